#pragma once

// DISTAL, the distributed tensor algebra compiler: the whole public interface.

#include "distal/blas.h"
#include "distal/certificate.h"
#include "distal/compound.h"
#include "distal/cost.h"
#include "distal/error.h"
#include "distal/find.h"
#include "distal/format.h"
#include "distal/index.h"
#include "distal/kernel.h"
#include "distal/kinds.h"
#include "distal/machine.h"
#include "distal/param.h"
#include "distal/picture.h"
#include "distal/program.h"
#include "distal/progress.h"
#include "distal/schedule.h"
#include "distal/tensor.h"
