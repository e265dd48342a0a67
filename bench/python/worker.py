"""The worker for one product of tensors in Python. Its variants are einsum and kernel (of DISTAL), numpy and jax.

Beside the requests of bench/leaf, `steps` answers the statements that distal.einsum computes one after the other.
"""

import sys
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).resolve().parents[1] / "leaf"))
import peers  # noqa: E402


def distal():
    """The package, which a worker for the peers need not have."""
    try:
        import distal as found
    except ImportError:
        raise peers.Unsupported from None
    return found


class Problem(peers.Problem):
    """A product of tensors, each of which occurs once."""

    def __init__(self, dtype, sizes, statement):
        super().__init__(dtype, sizes, statement)
        (self.factors,) = self.terms
        self.text = ",".join(indices for _, indices in self.factors) + "->" + self.left
        self.arrays = [self.operands[tensor] for tensor, _ in self.factors]

    def make(self, variant):
        if variant == "einsum":
            einsum = distal().einsum
            return lambda: einsum(self.text, *self.arrays)
        if variant == "kernel":
            return self.kernel(distal())
        if variant == "numpy":
            return lambda: np.einsum(self.text, *self.arrays, optimize=True)
        return super().make(variant)

    def kernel(self, package):
        """A kernel that is kept, in one loop nest."""
        variables = {x: package.IndexVar(x) for x in self.sizes}
        dtype = self.arrays[0].dtype
        result = package.Tensor("result", [self.sizes[x] for x in self.left], dtype=dtype)
        right = 1
        for (name, indices), array in zip(self.factors, self.arrays):
            right = package.Tensor(name, array.shape, data=array)[[variables[x] for x in indices]] * right
        result[[variables[x] for x in self.left]] = right
        kernel, array = result.compile(), result.numpy()

        def body():
            kernel.run()
            return array

        return body

    def steps(self):
        from distal import _einsum

        plan = _einsum._plan(self.text, tuple(a.shape for a in self.arrays), self.arrays[0].dtype, True)
        return "; ".join(statement_of(step.contraction.product) for step in plan.steps)


def statement_of(product):
    """A statement as bench/leaf writes it."""
    terms = [f"{name}({','.join(term)})" for name, term in zip("ABCDEFGH", (product.output, *product.inputs))]
    return f"{terms[0]} = {' * '.join(terms[1:])}"


class Server(peers.Server):
    def __init__(self):
        super().__init__(Problem)

    def handle(self, word, rest):
        if word == "steps":
            return self.problem.steps()
        about = super().handle(word, rest)
        if word == "about":
            try:
                about = f"distal {distal().__version__}, {about}"
            except peers.Unsupported:
                about = f"without distal, {about}"
            return f"Python {sys.version.split()[0]}, {about}"
        return about


if __name__ == "__main__":
    peers.serve(Server())
