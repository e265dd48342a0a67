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

// The line protocol between run.py and a worker. Each request is a line, and so is each answer: "ok ...", "none" where
// the worker has no form of what is asked, or "error ...".
//
//   about                                      -> ok TEXT
//   prepare KERNEL TYPE CUT EXTENTS STATEMENT  -> ok
//   check VARIANT                              -> ok ERROR
//   time VARIANT SECONDS                       -> ok BEST MEDIAN REPETITIONS WORK
//   drop                                       -> ok
namespace leaf {

struct Request {
  std::string kernel;
  std::string type;  // double or float
  char cut;          // the index that Grid(2) divides
  Extents extents;
  Statement statement;
};

// Thrown for a variant that a worker does not have.
struct NoSuchForm {};

// What a worker holds between prepare and drop. A variant is a way to compute the statement, or a limit.
class Prepared {
 public:
  virtual ~Prepared() = default;
  // Computes once and compares with the definition; this is also where a variant sets itself up.
  virtual double check(const std::string& variant) = 0;
  virtual Timing time(const std::string& variant, double seconds) = 0;
};

struct Worker {
  std::function<std::string()> about;
  std::function<std::unique_ptr<Prepared>(const Request&)> prepare;
  // Requests beyond the common ones: the answer after "ok".
  std::function<std::string(const std::string& word, std::istream& rest)> other;
};

inline Request parse_request(std::istream& in) {
  Request request;
  std::string extents, statement;
  in >> request.kernel >> request.type >> request.cut >> extents;
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
    } catch (const NoSuchForm&) {
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
