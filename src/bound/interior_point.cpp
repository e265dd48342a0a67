#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "bound/multipliers.h"

namespace distal::core {

namespace {

// Near the solution the systems are ill-conditioned, which double precision cannot take.
using Real = long double;
using Vector = std::vector<Real>;

// A symmetric positive definite system, solved by Cholesky's method. No solution if rounding makes it indefinite.
class System {
 public:
  explicit System(size_t size) : size_(size), entries_(size * size, Real{0}) {}

  Real& at(size_t row, size_t column) { return entries_[row * size_ + column]; }

  // Adds factor * v * v^T.
  void add_square(const Vector& v, Real factor) {
    for (size_t r = 0; r < size_; ++r) {
      for (size_t c = 0; c < size_; ++c) at(r, c) += factor * v[r] * v[c];
    }
  }

  std::optional<Vector> solve(Vector right) {
    for (size_t c = 0; c < size_; ++c) {
      for (size_t k = 0; k < c; ++k) at(c, c) -= at(c, k) * at(c, k);
      if (!(at(c, c) > 0)) return std::nullopt;
      at(c, c) = std::sqrt(at(c, c));
      for (size_t r = c + 1; r < size_; ++r) {
        for (size_t k = 0; k < c; ++k) at(r, c) -= at(r, k) * at(c, k);
        at(r, c) /= at(c, c);
      }
    }
    for (size_t r = 0; r < size_; ++r) {
      for (size_t k = 0; k < r; ++k) right[r] -= at(r, k) * right[k];
      right[r] /= at(r, r);
    }
    for (size_t r = size_; r-- > 0;) {
      for (size_t k = r + 1; k < size_; ++k) right[r] -= at(k, r) * right[k];
      right[r] /= at(r, r);
    }
    return right;
  }

 private:
  size_t size_;
  Vector entries_;
};

// The box problem of one group in logarithms, with a barrier at each constraint:
//
//   largest  sum x_d  with  sum_{d in access} x_d <= log(own_t + exchange * y_t),  0 <= x_d <= log n_d,
//                           y_t >= 0,  sum y_t <= 1.
//
// The unknowns are the x_d of the indices with more than one value, then the y_t.
class BarrierProblem {
 public:
  BarrierProblem(const BoxProblem& problem, const BoxProblem::Group& group, double exchange)
      : problem_(problem), exchange_(exchange) {
    for (const BoxProblem::Index& index : problem.indices) {
      if (index.extent > 1) logs_.push_back(std::log(static_cast<Real>(index.extent)));
      unknown_of_index_.push_back(index.extent > 1 ? static_cast<int>(logs_.size()) - 1 : -1);
    }
    for (int64_t own : group.own) own_.push_back(static_cast<Real>(std::max<int64_t>(1, own)));
    constraints_ = 2 * static_cast<Real>(logs_.size()) + static_cast<Real>(own_.size()) + 1;
    for (const BoxProblem::Array& array : problem.arrays) constraints_ += static_cast<Real>(array.accesses.size());
  }

  Multipliers solve() {
    constexpr Real precise_enough = 1e-10;
    Vector z = start();
    Real sharpness = 8;
    centre(z, sharpness);
    while (constraints_ / sharpness > precise_enough) {
      Vector next = z;
      if (!centre(next, 8 * sharpness)) break;  // the limit of what rounding allows
      sharpness *= 8;
      z = std::move(next);
    }
    Multipliers s;
    for (size_t t = 0; t < own_.size(); ++t) {
      std::vector<double>& of_array = s.accesses.emplace_back();
      for (const std::vector<int>& access : problem_.arrays[t].accesses) {
        of_array.push_back(static_cast<double>(1 / (sharpness * slack(z, t, access))));
      }
    }
    return s;
  }

 private:
  size_t size() const { return logs_.size() + own_.size(); }
  Real touched(const Vector& z, size_t t) const { return own_[t] + exchange_ * z[logs_.size() + t]; }

  Real slack(const Vector& z, size_t t, const std::vector<int>& access) const {
    Real left = std::log(touched(z, t));
    for (int d : access) {
      if (unknown_of_index_[d] >= 0) left -= z[unknown_of_index_[d]];
    }
    return left;
  }

  Real unused(const Vector& z) const {
    Real left = 1;
    for (size_t t = 0; t < own_.size(); ++t) left -= z[logs_.size() + t];
    return left;
  }

  // Every array gets the same share, and the box is small enough for all of them.
  Vector start() const {
    Real share = 1 / (static_cast<Real>(own_.size()) + 1);
    Vector z(size(), share);
    Real least = logs_.empty() ? 0 : logs_[0];
    for (Real log : logs_) least = std::min(least, log);
    for (Real own : own_) least = std::min(least, std::log(own + exchange_ * share));
    for (size_t d = 0; d < logs_.size(); ++d) z[d] = least / (static_cast<Real>(logs_.size()) + 1);
    return z;
  }

  bool is_inside(const Vector& z) const {
    for (size_t d = 0; d < logs_.size(); ++d) {
      if (z[d] <= 0 || z[d] >= logs_[d]) return false;
    }
    for (size_t t = 0; t < own_.size(); ++t) {
      if (z[logs_.size() + t] <= 0) return false;
      for (const std::vector<int>& access : problem_.arrays[t].accesses) {
        if (slack(z, t, access) <= 0) return false;
      }
    }
    return unused(z) > 0;
  }

  struct Step {
    Vector direction;
    Real decrement;  // the square of Newton's decrement
  };

  // The step of Newton's method from z.
  std::optional<Step> newton_step(const Vector& z, Real sharpness) const {
    Vector down(size(), Real{0});  // minus the gradient
    System hessian(size());
    auto bound = [&](size_t unknown, Real distance, Real sign) {
      down[unknown] += sign / distance;
      hessian.at(unknown, unknown) += 1 / (distance * distance);
    };
    for (size_t d = 0; d < logs_.size(); ++d) {
      down[d] += sharpness;
      bound(d, z[d], 1);
      bound(d, logs_[d] - z[d], -1);
    }
    for (size_t t = 0; t < own_.size(); ++t) {
      bound(logs_.size() + t, z[logs_.size() + t], 1);
      for (const std::vector<int>& access : problem_.arrays[t].accesses) add_access(z, t, access, down, hessian);
    }
    Vector all(size(), Real{0});
    Real left = unused(z);
    for (size_t t = 0; t < own_.size(); ++t) {
      all[logs_.size() + t] = 1;
      down[logs_.size() + t] -= 1 / left;
    }
    hessian.add_square(all, 1 / (left * left));
    std::optional<Vector> direction = hessian.solve(down);
    if (!direction) return std::nullopt;
    return Step{*direction, std::inner_product(down.begin(), down.end(), direction->begin(), Real{0})};
  }

  void add_access(const Vector& z, size_t t, const std::vector<int>& access, Vector& down, System& hessian) const {
    Real left = slack(z, t, access), growth = exchange_ / touched(z, t);
    Vector gradient(size(), Real{0});  // of the slack
    gradient[logs_.size() + t] = growth;
    for (int d : access) {
      if (unknown_of_index_[d] >= 0) gradient[unknown_of_index_[d]] -= 1;
    }
    for (size_t i = 0; i < size(); ++i) down[i] += gradient[i] / left;
    hessian.add_square(gradient, 1 / (left * left));
    hessian.at(logs_.size() + t, logs_.size() + t) += growth * growth / left;
  }

  // Damped Newton's method. False if it does not converge.
  bool centre(Vector& z, Real sharpness) const {
    constexpr int most_steps = 100;
    for (int i = 0; i < most_steps; ++i) {
      std::optional<Step> step = newton_step(z, sharpness);
      if (!step) return false;
      if (step->decrement < 1e-12) return true;
      Real length = step->decrement < 0.1 ? 1 : 1 / (1 + std::sqrt(step->decrement));
      Vector next;
      do {
        next = z;
        for (size_t u = 0; u < size(); ++u) next[u] += length * step->direction[u];
        length /= 2;
      } while (!is_inside(next) && length > 1e-9);
      if (!is_inside(next)) return false;
      z = std::move(next);
    }
    return false;
  }

  const BoxProblem& problem_;
  Real exchange_;
  Vector logs_;
  Vector own_;
  std::vector<int> unknown_of_index_;
  Real constraints_ = 0;
};

}  // namespace

Multipliers best_multipliers(const BoxProblem& problem, const BoxProblem::Group& group, double exchange) {
  return BarrierProblem(problem, group, exchange).solve();
}

}  // namespace distal::core
