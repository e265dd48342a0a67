#include "cli/terminal.h"

#include <gtest/gtest.h>

#include <random>
#include <sstream>

namespace distal::core {
namespace {

const Terminal kPlain{40, false};

TEST(Terminal, ShortLinesStay) {
  std::string text = "a\n\n  b = c\n" + std::string(40, 'x') + "\n";
  EXPECT_EQ(as_shown(text, kPlain), text);
  EXPECT_EQ(as_shown("no end of a line", kPlain), "no end of a line");
  EXPECT_EQ(as_shown("", kPlain), "");
}

TEST(Terminal, LongLinesGoOnBelow) {
  EXPECT_EQ(as_shown("  one two three four five six seven eight nine ten\n", kPlain),
            "  one two three four five six seven\n      eight nine ten\n");
}

TEST(Terminal, LinesAreBrokenOutsideOfBrackets) {
  EXPECT_EQ(as_shown("acquire A[min(i, ni) : max(i, ni), min(j, nj)]", kPlain),
            "acquire A[min(i, ni) : max(i, ni),\n    min(j, nj)]");
}

TEST(Terminal, TheSecondColumnGoesOnBelowItself) {
  EXPECT_EQ(as_shown("  memory    6.0 MiB at most on one processor, or so", kPlain),
            "  memory    6.0 MiB at most on one\n            processor, or so");
}

TEST(Terminal, CommentsGoOnAsComments) {
  EXPECT_EQ(as_shown("#   2 processors share the tiles of A, B and C", kPlain),
            "#   2 processors share the tiles of A, B\n#       and C");
}

TEST(Terminal, AWordThatIsTooLongStays) {
  std::string word(50, 'x');
  EXPECT_EQ(as_shown("  " + word + " a", kPlain), "  " + word + "\n      a");
  EXPECT_EQ(as_shown(word, kPlain), word);
}

TEST(Terminal, CharactersOfSeveralBytesFillOneColumn) {
  std::string line;
  for (int n = 0; n < 10; ++n) line += "∀io ";
  line.pop_back();
  EXPECT_EQ(as_shown(line, kPlain), line);
  EXPECT_EQ(as_shown(line + " x y", kPlain), line + "\n    x y");
}

TEST(Terminal, MarksAreShownWithColoursAlone) {
  std::string text = heading("Total") + " " + bad("WRONG") + "\n";
  EXPECT_EQ(as_shown(text, std::nullopt), "Total WRONG\n");
  EXPECT_EQ(as_shown(text, kPlain), "Total WRONG\n");
  EXPECT_EQ(as_shown(text, Terminal{40, true}), "\033[1mTotal\033[0m \033[1;31mWRONG\033[0m\n");
}

TEST(Terminal, MarksFillNoColumn) {
  std::string text = "look at " + notable("what is at the very end here...");
  EXPECT_EQ(as_shown(text, Terminal{40, true}), text);
}

TEST(Terminal, WithoutATerminalLinesAreAsLongAsTheyAre) {
  std::string line(500, 'x');
  EXPECT_EQ(as_shown(line + " " + line, std::nullopt), line + " " + line);
}

// Nothing but spaces is lost, and only lines with a single word are too long.
TEST(Terminal, RandomTexts) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    for (int n = 0; n < 60; ++n) text += "ab ,([)]#\n  "[random() % 12];
    int columns = 40 + static_cast<int>(random() % 30);
    for (int n = 0; n < 3; ++n) text.insert(random() % text.size(), std::string(random() % 90, 'w'));
    std::string shown = as_shown(text, Terminal{columns, false});
    std::istringstream lines(shown);
    for (std::string line; std::getline(lines, line);) {
      if (line.size() <= static_cast<size_t>(columns)) continue;
      size_t first = line.find_first_not_of("# ");
      EXPECT_EQ(line.find(' ', first), std::string::npos) << text << "\n---\n" << shown;
    }
    auto drop = [](std::string s) {
      std::erase_if(s, [](char c) { return c == ' ' || c == '\n' || c == '#'; });
      return s;
    };
    EXPECT_EQ(drop(text), drop(shown));
  }
}

}  // namespace
}  // namespace distal::core
