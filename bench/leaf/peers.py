"""The worker for numpy.einsum and jax.numpy.einsum. Its variants are numpy and jax.

A statement is a sum of products. Each product is an einsum; a product without a dimension of the result is broadcast.
"""

import gc
import math
import re
import sys
import time

import numpy as np

try:
    import jax

    jax.config.update("jax_enable_x64", True)
    import jax.numpy as jnp
except ImportError:
    jax = None

ACCESS = re.compile(r"(\w+)(?:\(([\w,]+)\))?")
SAMPLES = 16
MAX_REPETITIONS = 20000


class Unsupported(Exception):
    pass


def parse(text):
    """Parses a statement into (result, terms). A term is a list of accesses, an access is (tensor, indices)."""
    left, right = text.split("=")

    def accesses(part):
        return [(tensor, indices.replace(",", "")) for tensor, indices in ACCESS.findall(part)]

    return accesses(left)[0], [accesses(term) for term in right.split("+")]


def filled(shape, salt, dtype):
    """The elements of operand number `salt`, as value() of array.h has them."""
    size = int(np.prod(shape, dtype=np.int64))
    out = np.empty(size, dtype)
    factor = np.uint32(2654435761 * (2 * salt + 3) % 2**32)
    for begin in range(0, size, 1 << 22):
        end = min(size, begin + (1 << 22))
        x = np.arange(begin + 1, end + 1, dtype=np.int64).astype(np.uint32) * factor
        out[begin:end] = ((x >> np.uint32(16)) & np.uint32(255)) / dtype(128) - dtype(1)
    return out.reshape(shape)


def evaluate(module, left, terms, operands, **options):
    """Computes the statement by the einsum of a module."""
    total = None
    for term in terms:
        used = {x for _, indices in term for x in indices}
        out = "".join(x for x in left if x in used)
        subscripts = ",".join(indices for _, indices in term) + "->" + out
        part = module.einsum(subscripts, *[operands[tensor] for tensor, _ in term], **options)
        part = module.reshape(part, [part.shape[out.index(x)] if x in used else 1 for x in left])
        total = part if total is None else total + part
    return total


class Problem:
    def __init__(self, dtype, sizes, statement):
        (_, self.left), self.terms = parse(statement)
        self.sizes = sizes
        self.operands = {}
        for tensor, indices in [access for term in self.terms for access in term]:
            if tensor not in self.operands:
                shape = [sizes[x] for x in indices]
                self.operands[tensor] = filled(shape, len(self.operands) + 1, dtype)
        self.bodies = {}

    def body(self, variant):
        if variant not in self.bodies:
            self.bodies[variant] = self.make(variant)
        return self.bodies[variant]

    def make(self, variant):
        if variant == "numpy":
            return lambda: evaluate(np, self.left, self.terms, self.operands, optimize=True)
        if variant != "jax" or jax is None:
            raise Unsupported
        operands = {name: jnp.asarray(array) for name, array in self.operands.items()}
        compiled = jax.jit(lambda given: evaluate(jnp, self.left, self.terms, given))
        return lambda: compiled(operands).block_until_ready()

    def check(self, variant):
        """The largest error of sampled elements, relative to the sum of the absolute values of the products."""
        result = np.asarray(self.body(variant)())
        samples = SAMPLES if self.left else 1
        return max(self.error(result, number, samples) for number in range(samples))

    def error(self, result, number, samples):
        at = {}
        for d, x in enumerate(self.left):
            last = self.sizes[x] - 1
            at[x] = last if number == samples - 1 else number * (977 + 364 * d) % (last + 1)
        got = float(result[tuple(at[x] for x in self.left)])
        want, size = self.reference(at, np.asarray), self.reference(at, np.abs)
        error = abs(got - want) / max(size, 1e-300)
        return math.inf if math.isnan(error) else error

    def reference(self, at, change):
        return sum(self.term(term, at, change) for term in self.terms)

    def term(self, term, at, change):
        """One term at one element of the result, by numpy's plain loops."""
        rest, arrays = [], []
        for tensor, indices in term:
            rest.append("".join(x for x in indices if x not in at))
            slices = tuple(at.get(x, slice(None)) for x in indices)
            arrays.append(change(self.operands[tensor][slices].astype(np.float64, copy=False)))
        return float(np.einsum(",".join(rest) + "->", *arrays, optimize=False))


def timed(body):
    start = time.perf_counter()
    body()
    return time.perf_counter() - start


def repeat(body, seconds):
    """Does what repeat() of timing.h does."""
    end = time.perf_counter() + seconds
    times = [timed(body)]
    if times[0] < seconds / 2:
        times.clear()
    while not times or (time.perf_counter() < end and len(times) < MAX_REPETITIONS):
        times.append(timed(body))
    times.sort()
    return f"{times[0]:.9g} {times[len(times) // 2]:.9g} {len(times)} 0"


class Server:
    def __init__(self, problem_type=Problem):
        self.problem_type = problem_type
        self.problem = None

    def drop(self):
        """Frees all memory at once. This needs gc.collect(), because a problem and its bodies refer to each other."""
        self.problem = None
        gc.collect()
        if jax:
            jax.clear_caches()

    def handle(self, word, rest):
        if word == "about":
            return f"numpy {np.__version__}" + (f", jax {jax.__version__}" if jax else "")
        if word in ("prepare", "drop"):
            self.drop()
        if word == "prepare":
            _, dtype, _, extents, statement = rest.split(" ", 4)
            sizes = {x.split("=")[0]: int(x.split("=")[1]) for x in extents.split(",")}
            self.problem = self.problem_type(np.float32 if dtype == "float" else np.float64, sizes, statement)
        if word == "check":
            return f"{self.problem.check(rest):.3g}"
        if word == "time":
            variant, seconds = rest.split()
            return repeat(self.problem.body(variant), float(seconds))
        return ""

    def answer(self, line):
        try:
            return "ok " + self.handle(*line.strip().partition(" ")[::2])
        except Unsupported:
            return "none"
        except Exception as error:  # run.py reports the error
            return "error " + " ".join(str(error).split())


def serve(server):
    for line in sys.stdin:
        print(server.answer(line), flush=True)


if __name__ == "__main__":
    serve(Server())
