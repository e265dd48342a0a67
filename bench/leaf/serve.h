#pragma once

#include <cstdio>
#include <exception>
#include <functional>
#include <iostream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>

#include "statement.h"
#include "timing.h"

// The line protocol between run.py and a worker. Each request and each answer is one line. The answer is "ok ...",
// "none" if the worker does not support the variant, or "error ...". INDEX is the index that Grid(2) distributes.
//
//   about                                        -> ok TEXT
//   prepare KERNEL TYPE INDEX EXTENTS STATEMENT  -> ok
//   check VARIANT                                -> ok ERROR
//   time VARIANT SECONDS                         -> ok BEST MEDIAN REPETITIONS WORK
//   drop                                         -> ok
namespace leaf {

struct Request {
  std::string kernel;
  std::string type;  // double or float
  char distributed;  // the index that Grid(2) distributes
  Extents extents;
  Statement statement;
};

// Thrown for a variant that the worker does not support.
struct Unsupported {};

// The state of a worker between prepare and drop. A variant is an implementation of the statement, or a limit.
class Prepared {
 public:
  virtual ~Prepared() = default;
  // Sets up the variant, computes once, and returns the error against the reference.
  virtual double check(const std::string& variant) = 0;
  virtual Timing time(const std::string& variant, double seconds) = 0;
};

struct Worker {
  std::function<std::string()> about;
  std::function<std::unique_ptr<Prepared>(const Request&)> prepare;
  // Handles requests that are not listed above, and returns the text after "ok".
  std::function<std::string(const std::string& word, std::istream& rest)> other;
};

inline Request parse_request(std::istream& in) {
  Request request;
  std::string extents, statement;
  in >> request.kernel >> request.type >> request.distributed >> extents;
  std::getline(in, statement);
  request.extents = parse_extents(extents);
  request.statement = Parser(statement).statement();
  return request;
}

inline std::string print(const Timing& t) {
  char text[128];
  std::snprintf(text, sizeof text, "%.9g %.9g %zu %.17g", t.best, t.median, t.repetitions, t.work);
  return text;
}

class Server {
 public:
  explicit Server(Worker worker) : worker_(std::move(worker)) {}

  void serve() {
    for (std::string line; std::getline(std::cin, line);) std::cout << answer(line) << std::endl;
  }

 private:
  std::string answer(const std::string& line) {
    try {
      std::istringstream in(line);
      std::string word;
      in >> word;
      return "ok " + handle(word, in);
    } catch (const Unsupported&) {
      return "none";
    } catch (const std::exception& e) {
      std::string text = e.what();
      for (char& c : text) c = c == '\n' ? ' ' : c;
      return "error " + text;
    }
  }

  std::string handle(const std::string& word, std::istream& in) {
    std::string variant;
    double seconds = 0;
    if (word == "about") return worker_.about();
    if (word == "drop" || word == "prepare") prepared_.reset();
    if (word == "drop") return {};
    if (word == "prepare") {
      prepared_ = worker_.prepare(parse_request(in));
      return {};
    }
    if (word != "check" && word != "time" && worker_.other) return worker_.other(word, in);
    if (!prepared_) throw std::runtime_error("nothing is prepared");
    in >> variant >> seconds;
    if (word == "check") return number(prepared_->check(variant));
    return print(prepared_->time(variant, seconds));
  }

  static std::string number(double x) {
    char text[32];
    std::snprintf(text, sizeof text, "%.3g", x);
    return text;
  }

  Worker worker_;
  std::unique_ptr<Prepared> prepared_;
};

}  // namespace leaf
