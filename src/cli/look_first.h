#pragma once

#include <string>
#include <vector>

#include "cli/run_report.h"
#include "plan/certificate.h"
#include "plan/cost.h"
#include "tune/find.h"

namespace distal::core {

// A part of a report that the user should look at first.
struct Remark {
  std::string where;  // the part of the report
  std::string what;
};

// The most important first.
std::vector<Remark> remarks_on(const PlanCost& cost, const std::vector<Certificate>& certificates);
std::vector<Remark> remarks_on(const RunReport& report);
std::vector<Remark> remarks_on(const FoundStatement& found);

}  // namespace distal::core
