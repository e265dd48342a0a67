#pragma once

#include <functional>
#include <memory>

#include "blas.h"
#include "parallel.h"
#include "problem.h"

// Statements written as calls of BLAS by hand, as a programmer who knows the library would write them. DISTAL is
// compared with these.
namespace leaf {

using Body = std::function<void()>;

// A(a,b,i,j) = B(a,c,i,k) * C(c,b,k,j): transpose, multiply, transpose.
class Contraction4 {
 public:
  Contraction4(const Problem<double>& problem, const Blas& blas, int threads)
      : p_(problem), blas_(blas), threads_(threads) {
    b_ = Array<double>(n('a') * n('i') * n('c') * n('k'));
    c_ = Array<double>(n('c') * n('k') * n('b') * n('j'));
    a_ = Array<double>(n('a') * n('i') * n('b') * n('j'));
  }

  void run() {
    swap_middle(p_.data("B"), b_.data(), n('a'), n('c'), n('i'), n('k'));
    swap_middle(p_.data("C"), c_.data(), n('c'), n('b'), n('k'), n('j'));
    blas_.gemm(n('a') * n('i'), n('b') * n('j'), n('c') * n('k'), b_.data(), c_.data(), a_.data());
    swap_middle(a_.data(), p_.data("A"), n('a'), n('i'), n('b'), n('j'));
  }

 private:
  int64_t n(char index) const { return p_.extents.at(index); }

  // to(w,y,x,z) = from(w,x,y,z)
  void swap_middle(const double* from, double* to, int64_t nw, int64_t nx, int64_t ny, int64_t nz) const {
    parallel(threads_, nw, [&](int, int64_t begin, int64_t end) {
      for (int64_t w = begin; w < end; ++w) {
        for (int64_t y = 0; y < ny; ++y) {
          for (int64_t x = 0; x < nx; ++x) {
            const double* source = from + ((w * nx + x) * ny + y) * nz;
            std::copy(source, source + nz, to + ((w * ny + y) * nx + x) * nz);
          }
        }
      }
    });
  }

  const Problem<double>& p_;
  const Blas& blas_;
  int threads_;
  Array<double> a_, b_, c_;
};

// A(i,l) = B(i,j,k) * C(j,l) * D(k,l): for each i a GEMM with D, then a sum over j.
class Mttkrp {
 public:
  Mttkrp(const Problem<double>& problem, const Blas& blas) : p_(problem), blas_(blas) {
    t_ = Array<double>(n('j') * n('l'));
  }

  void run() {
    for (int64_t i = 0; i < n('i'); ++i) {
      blas_.gemm(n('j'), n('l'), n('k'), p_.data("B") + i * n('j') * n('k'), p_.data("D"), t_.data());
      sum_over_j(p_.data("A") + i * n('l'));
    }
  }

 private:
  int64_t n(char index) const { return p_.extents.at(index); }

  void sum_over_j(double* out) const {
    int64_t length = n('l');
    std::fill(out, out + length, 0.0);
    const double *t = t_.data(), *c = p_.data("C");
    for (int64_t j = 0; j < n('j'); ++j) {
      for (int64_t l = 0; l < length; ++l) out[l] += t[j * length + l] * c[j * length + l];
    }
  }

  const Problem<double>& p_;
  const Blas& blas_;
  Array<double> t_;
};

// The implementation of a kernel by BLAS; empty if there is none. The part of `kernel` before a dash selects it.
template <class T>
Body blas_implementation(const std::string& kernel, const Problem<T>& p, const Blas& blas, int threads) {
  auto n = [&p](char index) { return p.extents.at(index); };
  std::string name = kernel.substr(0, kernel.find('-'));
  if (name == "gemm") {
    return [&p, &blas, n] { blas.gemm(n('i'), n('j'), n('k'), p.data("B"), p.data("C"), p.data("A")); };
  }
  if constexpr (std::is_same_v<T, double>) {
    if (name == "ttv") {
      return [&p, &blas, n] { blas.gemv(n('i') * n('j'), n('k'), p.data("B"), p.data("c"), p.data("A")); };
    }
    if (name == "matvec") {
      return [&p, &blas, n] { blas.gemv(n('i'), n('j'), p.data("B"), p.data("c"), p.data("a")); };
    }
    if (name == "innerprod") {
      return [&p, &blas] { *p.data("a") = blas.dot(p.arrays.at("B").size(), p.data("B"), p.data("C")); };
    }
    if (name == "ttm") {
      return [&p, &blas, n] { blas.gemm(n('i') * n('j'), n('l'), n('k'), p.data("B"), p.data("C"), p.data("A")); };
    }
    if (name == "mttkrp") return [body = std::make_shared<Mttkrp>(p, blas)] { body->run(); };
    if (name == "contraction4") return [body = std::make_shared<Contraction4>(p, blas, threads)] { body->run(); };
  }
  return {};
}

}  // namespace leaf
