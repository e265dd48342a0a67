#include "support/text.h"

#include <gtest/gtest.h>

namespace distal::core {
namespace {

TEST(Text, CountsInTheSingularAndThePlural) {
  EXPECT_EQ(counted(0, "message"), "0 messages");
  EXPECT_EQ(counted(1, "message"), "1 message");
  EXPECT_EQ(counted(1024, "message"), "1,024 messages");
  EXPECT_EQ(counted(1, "copy", "copies"), "1 copy");
  EXPECT_EQ(counted(2, "copy", "copies"), "2 copies");
}

}  // namespace
}  // namespace distal::core
