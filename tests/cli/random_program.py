"""Random programs, and their results computed by NumPy, without any code of the compiler.

A program is random in its statements, machine, distributions and schedules. NumPy evaluates each additive term over the
variables that it uses, and sums over those that the left side does not have.
"""

import math
import random
import string

import numpy as np

NUMPY_TYPES = {
    "float": np.float32,
    "double": np.float64,
    "int32": np.int32,
    "int64": np.int64,
    "complex<float>": np.complex64,
    "complex<double>": np.complex128,
}


# ---- expressions: ("access", tensor, indices, offsets), ("literal", value), ("param", name, value), ("negate", e),
# (operator, left, right). An offset is None for an index that is not shifted. ----


def terms_of(expr, sign=1):
    """The additive terms with their signs."""
    if expr[0] == "negate":
        return terms_of(expr[1], -sign)
    if expr[0] in "+-":
        return terms_of(expr[1], sign) + terms_of(expr[2], sign if expr[0] == "+" else -sign)
    return [(sign, expr)]


def factors_of(expr):
    """The factors of a plain product of tensors; None for anything else."""
    if expr[0] == "access":
        return [expr]
    if expr[0] != "*":
        return None
    left, right = factors_of(expr[1]), factors_of(expr[2])
    return left + right if left and right else None


def accesses_of(expr):
    if expr[0] == "access":
        return [expr]
    return [access for part in expr[1:] if isinstance(part, tuple) for access in accesses_of(part)]


def variables_of(expr):
    """The variables, in order of first appearance."""
    return list(dict.fromkeys(v for access in accesses_of(expr) for v in access[2]))


def text_of(expr, within="+"):
    """The expression as text. `within` is the operator whose operand it is."""
    if expr[0] == "access":
        indices = [v if by is None else f"{v} + {by}" for v, by in zip(expr[2], expr[3])]
        return expr[1] + (f"({', '.join(indices)})" if indices else "")
    if expr[0] in ("literal", "param"):
        return str(expr[1])
    if expr[0] == "negate":
        return f"(-{text_of(expr[1], '*')})"
    text = f"{text_of(expr[1], expr[0])} {expr[0]} {text_of(expr[2], '*' if expr[0] == '-' else expr[0])}"
    return f"({text})" if expr[0] in "+-" and within == "*" else text


def window(access, extents, values):
    """The part of a tensor that an access touches."""
    _, tensor, indices, offsets = access
    return values[tensor][tuple(slice(by or 0, (by or 0) + extents[v]) for v, by in zip(indices, offsets))]


def evaluate_term(expr, over, extents, values, dtype):
    """Evaluates a term as an array over the variables `over`. Sums over its other variables."""
    everything = over + [v for v in variables_of(expr) if v not in over]

    def spread(part):
        if part[0] == "literal":
            return np.asarray(part[1], dtype)
        if part[0] == "param":
            return np.asarray(part[2], dtype)
        if part[0] == "negate":
            return -spread(part[1])
        if part[0] == "access":
            own = list(dict.fromkeys(part[2]))
            array = np.einsum(window(part, extents, values), [own.index(v) for v in part[2]], list(range(len(own))))
            ordered = [v for v in everything if v in own]
            array = np.transpose(array, [own.index(v) for v in ordered])
            return array.reshape([extents[v] if v in own else 1 for v in everything])
        left, right = spread(part[1]), spread(part[2])
        return left + right if part[0] == "+" else left - right if part[0] == "-" else left * right

    whole = np.broadcast_to(spread(expr), [extents[v] for v in everything])
    return whole.sum(axis=tuple(range(len(over), len(everything))), dtype=dtype)


def evaluate_product(factors, over, extents, values, dtype):
    """Like evaluate_term, for a product of tensors, by einsum."""
    names = list(dict.fromkeys([*over, *(v for f in factors for v in f[2])]))
    operands = []
    for factor in factors:
        operands += [window(factor, extents, values), [names.index(v) for v in factor[2]]]
    for v in over:  # along a variable that no factor uses the value is repeated
        if not any(v in f[2] for f in factors):
            operands += [np.ones(extents[v], dtype), [names.index(v)]]
    return np.einsum(*operands, [names.index(v) for v in over])


def execute(statement, extents, values, dtype):
    """Executes a statement (output, operator, expression) on the arrays in `values`. The output is an access."""
    output, operator, expr = statement
    _, tensor, indices, offsets = output
    over = list(dict.fromkeys(indices))
    result = np.zeros([extents[v] for v in over], dtype)
    for sign, term in terms_of(expr):
        factors = factors_of(term)
        value = (
            evaluate_product(factors, over, extents, values, dtype)
            if factors
            else evaluate_term(term, over, extents, values, dtype)
        )
        result = result + dtype(sign) * value.astype(dtype)
    whole = np.zeros_like(values[tensor])
    places = np.indices(result.shape)
    # A repeated index writes only a diagonal.
    whole[tuple(places[over.index(v)] + (by or 0) for v, by in zip(indices, offsets))] = result
    if operator == "=":
        values[tensor] = whole
    else:
        values[tensor] = values[tensor] + whole if operator == "+=" else values[tensor] - whole


# ---- programs ----


class RandomProgram:
    """A program as text, with its tensors and its results. The same seed gives the same program."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.fresh = 0
        self.type = self.random.choice(list(NUMPY_TYPES))
        self.dtype = NUMPY_TYPES[self.type]
        self.extents = {v: self.random.choice([1, 2, 3, 4, 5, 6, 7, 9, 11]) for v in "ijklmn"}
        if self.random.random() < 0.06:
            self.extents[self.random.choice("ijklmn")] = 0
        self.machine = self.random_machine()
        # Whether operands may lie on a line of the same processors; they are then in `on_line`.
        self.has_line = self.random.random() < 0.25
        self.on_line = set()
        self.tensors = {}  # name -> the variables that give its extents
        self.larger = {}  # name -> by how much its dimensions are larger than these extents
        self.distributions = {}  # name -> for each level, its roles and its cyclic dimensions
        self.lines = []
        self.statements = []
        for _ in range(self.random.choice([1, 1, 1, 2, 3])):
            self.add_statement()
        self.text = "\n".join(self.header() + self.lines) + "\n"

    def shape(self, tensor):
        more = self.larger.get(tensor, [0] * len(self.tensors[tensor]))
        return tuple(self.extents[v] + by for v, by in zip(self.tensors[tensor], more))

    def inputs(self):
        """Random arrays for all tensors. Small integers, so that every type computes exactly."""
        source = np.random.default_rng(self.random.randrange(2**32))
        arrays = {}
        for name in self.tensors:
            array = source.integers(-4, 5, self.shape(name)).astype(self.dtype)
            if np.iscomplexobj(array):
                array = array + self.dtype(1j) * source.integers(-4, 5, self.shape(name)).astype(self.dtype)
            arrays[name] = np.asarray(array, self.dtype)
        return arrays

    def outputs(self, inputs):
        values = dict(inputs)
        for statement in self.statements:
            execute(statement, self.extents, values, self.dtype)
        return values

    # -- machine and tensors --

    def random_machine(self):
        """The extents of the grid of every level."""
        grids = [(4,), (3, 2), (1, 5), (2, 2), (2, 2, 2), (3, 1, 2), (2, 3), (5,), (1,), (2, 1, 2, 2)]
        depth = self.random.choices([1, 2, 3], [65, 27, 8])[0]
        if depth == 1:
            return [self.random.choice(grids)]
        small = [(2,), (3,), (2, 2), (1, 2), (2, 1)]
        return [self.random.choice(small[: 6 - depth]) for _ in range(depth)]

    def header(self):
        sizes = ", ".join(f"n{v} = {n}" for v, n in self.extents.items())
        grids = [f"Grid({', '.join(map(str, grid))})" for grid in self.machine]
        lines = [f"param {sizes}", f"machine M = {' of '.join(grids)}", f"type {self.type}"]
        if self.has_line:
            text = self.random.choice(["Grid({})", "{} processors", "{0} processors as Grid({0})"])
            lines.append(f"machine N = {text.format(self.processors())}")
        return lines + [self.declaration(name) for name in self.tensors]

    def declaration(self, name):
        variables = self.tensors[name]
        more = self.larger.get(name, [0] * len(variables))
        sizes = [f"n{v}" + (f" + {by}" if by else "") for v, by in zip(variables, more)]
        text = f"tensor {name}" + (f"({', '.join(sizes)})" if sizes else "")
        if name in self.distributions:
            levels = [self.level_text(len(variables), *level) for level in self.distributions[name]]
            text += f" : {', '.join(levels)} on {'N' if name in self.on_line else 'M'}"
        if len(variables) > 1 and self.random.random() < 0.3:
            order = list(range(len(variables)))
            self.random.shuffle(order)
            text += f" order({', '.join(map(str, order))})"
        return text

    def level_text(self, dimensions, roles, cyclic):
        short = self.random.random() < 0.5 and all(isinstance(role, int) or len(role) == 1 for role in roles)
        letters = string.ascii_lowercase[-dimensions:] if dimensions else ""
        names = list(letters) if short else [f"d{d}" for d in range(dimensions)]
        right = [names[role] if isinstance(role, int) else role for role in roles]
        separator = "" if short else ", "
        text = f"{separator.join(names)} -> {separator.join(right)}"
        if cyclic:
            text += f" cyclic({', '.join(names[d] + ('' if b == 1 else f' = {b}') for d, b in cyclic.items())})"
        return text

    def processors(self):
        return math.prod(extent for grid in self.machine for extent in grid)

    def add_tensor(self, variables, is_operand=False):
        name = f"T{len(self.tensors)}"
        self.tensors[name] = variables
        if is_operand and self.has_line and self.random.random() < 0.5:
            self.on_line.add(name)
            self.distributions[name] = [self.random_level(len(variables), (self.processors(),))]
        elif self.random.random() < 0.85:
            self.distribute(name)
        return name

    def distribute(self, name):
        self.distributions[name] = [self.random_level(len(self.tensors[name]), grid) for grid in self.machine]

    def random_level(self, dimensions, grid):
        """One role per machine dimension: the tensor dimension that it partitions, a face, or broadcast."""
        free = list(range(dimensions))
        self.random.shuffle(free)
        roles, cyclic = [], {}
        for extent in grid:
            kind = self.random.random()
            if kind < 0.65 and free:
                role = free.pop()
                if self.random.random() < 0.25:
                    cyclic[role] = self.random.choice([1, 1, 2, 3])
            else:
                role = str(self.random.randrange(extent)) if kind < 0.85 else "*"
            roles.append(role)
        return roles, cyclic

    # -- statements --

    def add_statement(self):
        count = self.random.randint(1, 4)
        variables = self.random.sample("ijklmn", count)
        rank = self.random.randint(0, min(count, 3))
        left = variables[:rank]
        terms = [self.random_term(variables) for _ in range(self.random.choice([1, 1, 2, 3]))]
        used = {v for term in terms for v in variables_of(term)}
        missing = [v for v in left if v not in used]
        if missing and self.random.random() < 0.7:  # else a broadcast
            terms.append(self.random_access(missing))
        expr = terms[0]
        for term in terms[1:]:
            expr = (self.random.choice("+-"), expr, term)
        if left and self.random.random() < 0.08:
            left = left + [self.random.choice(left)]  # only a diagonal is written
        reads = {access[1] for access in accesses_of(expr)}
        operator = self.random.choice(["=", "=", "=", "=", "+=", "-="])
        if operator != "=" and left and self.random.random() < 0.25:
            access = self.shifted_access(left)
        else:
            output = self.reused_output(left, reads) or self.add_tensor("".join(left))
            access = ("access", output, left, [None] * len(left))
        if self.has_line and access[1] not in self.distributions:
            self.distribute(access[1])  # so that the statement runs on M
        if self.random.random() < 0.12:  # the output on the right
            read = ("*", ("literal", self.random.randint(1, 3)), access)
            expr = ("+", expr, read) if self.random.random() < 0.7 else ("+", ("*", read, access), expr)
        self.statements.append((access, operator, expr))
        self.lines.append(f"{text_of(access)} {operator} {text_of(expr)}")
        self.lines += Schedule(self, self.statements[-1]).lines()

    def reused_output(self, left, reads):
        """Sometimes the output is a tensor that an earlier statement wrote or read; else None."""
        fitting = [t for t, variables in self.tensors.items() if list(variables) == left]
        fitting = [t for t in fitting if t not in reads and t not in self.on_line and t not in self.larger]
        return self.random.choice(fitting) if fitting and self.random.random() < 0.5 else None

    def random_term(self, variables):
        factors = []
        for _ in range(self.random.choice([1, 2, 2, 3])):
            kind = self.random.random()
            if kind < 0.08:
                name = self.random.choice(variables)
                number = ("literal", self.random.randint(0, 3))
                factor = self.random.choice([number, number, ("param", f"n{name}", self.extents[name])])
            elif kind < 0.14:
                factor = self.shifted_access(self.some(variables, 1, 3))
            else:
                factor = self.random_access(self.some(variables, 0, 3))
            if kind > 0.92:
                factor = (self.random.choice("+-"), factor, self.random_access(self.some(variables, 1, 2)))
            elif kind > 0.87:
                factor = ("negate", factor)
            factors.append(factor)
        term = factors[0]
        for factor in factors[1:]:
            term = ("*", term, factor)
        return term

    def some(self, variables, fewest, most):
        return self.random.sample(variables, self.random.randint(fewest, min(most, len(variables))))

    def random_access(self, variables):
        variables = list(variables)
        if variables and self.random.random() < 0.08:
            variables.append(self.random.choice(variables))  # a diagonal
        shape = tuple(self.extents[v] for v in variables)
        fitting = [t for t in self.tensors if self.shape(t) == shape]
        plain = [None] * len(variables)
        if fitting and self.random.random() < 0.4:
            return ("access", self.random.choice(fitting), variables, plain)
        return ("access", self.add_tensor("".join(variables), is_operand=True), variables, plain)

    def shifted_access(self, variables):
        """An access with shifted indices to a new tensor, which is larger by the offsets."""
        variables = list(variables)
        offsets = [self.random.choice([None, 0, 1, 2, 3]) for _ in variables]
        name = self.add_tensor("".join(variables))
        self.larger[name] = [by or 0 for by in offsets]
        return ("access", name, variables, offsets)


class Schedule:
    """A random legal schedule of one statement, kept as the list of its loops."""

    def __init__(self, program, statement):
        self.program = program
        self.random = program.random
        output, _, expr = statement
        self.left, self.expr = output[2], expr
        self.indices = {}  # tensor -> the indices of its first access
        for _, tensor, indices, _ in [output, *accesses_of(expr)]:
            self.indices.setdefault(tensor, indices)
        self.loops = list(dict.fromkeys([*self.left, *variables_of(expr)]))
        self.origins = {v: {v} for v in self.loops}  # loop -> the variables from which it was made
        self.distributed = []
        self.communicated = {}  # tensor -> loop
        self.kernel = []
        self.commands = []
        # M is the only machine, so a statement runs on M even if its tensors have no distribution.
        self.machine = program.machine

    def lines(self):
        if not self.loops or self.random.random() < 0.1:
            return []
        for _ in range(self.random.randint(0, 2)):
            self.tile()
        if self.random.random() < 0.85:
            self.distribute()
        for _ in range(self.random.randint(0, 4)):
            self.random.choice([self.tile, self.collapse, self.reorder, self.rotate])()
        for mark in self.random.sample([self.communicate, self.substitute], 2):
            mark()
        self.parallelize()
        return ["schedule"] + [f"  {command}" for command in self.commands]

    def name(self):
        self.program.fresh += 1
        return f"v{self.program.fresh}"

    def local(self):
        return [v for v in self.loops if v not in self.distributed]

    def replace(self, old, new):
        at = self.loops.index(old)
        self.loops[at : at + 1] = new
        for v in new:
            self.origins[v] = self.origins[old]

    def tile(self):
        if not self.local():
            return
        v, outer, inner = self.random.choice(self.local()), self.name(), self.name()
        command = self.random.choice(["split", "divide"])
        self.commands.append(f"{command}({v}, {outer}, {inner}, {self.random.choice([1, 2, 3, 4])})")
        self.replace(v, [outer, inner])

    def collapse(self):
        pairs = [pair for pair in zip(self.loops, self.loops[1:]) if not set(pair) & set(self.distributed)]
        if not pairs:
            return
        outer, inner = self.random.choice(pairs)
        fused = self.name()
        self.commands.append(f"collapse({outer}, {inner}, {fused})")
        origins = self.origins[outer] | self.origins[inner]
        self.loops.remove(inner)
        self.replace(outer, [fused])
        self.origins[fused] = origins

    def reorder(self):
        some = self.random.sample(self.loops, self.random.randint(1, len(self.loops)))
        places = sorted(self.loops.index(v) for v in some)
        self.commands.append(f"reorder({{{', '.join(some)}}})")
        for place, v in zip(places, some):
            self.loops[place] = v

    def rotate(self):
        target = self.random.choice(self.loops)
        around = self.loops[: self.loops.index(target)]
        if target in self.distributed or not around:
            return
        by = self.random.sample(around, self.random.randint(1, min(2, len(around))))
        result = self.name()
        self.commands.append(f"rotate({target}, {{{', '.join(by)}}}, {result})")
        self.replace(target, [result])

    def distribute(self):
        for level in range(len(self.machine)):
            if level > 0 and self.random.random() < 0.3:
                return
            ways = [self.distribute_onto_machine, self.distribute_onto_tensor, self.distribute_bare]
            self.random.choice(ways)(level)

    def level_text(self, level, name="M"):
        return f"{name}[{level}]" if len(self.machine) > 1 else name

    def distribute_onto_machine(self, level):
        grid = self.machine[level]
        while len(self.local()) < len(grid):
            if not self.local():
                return
            self.tile()
        targets = self.random.sample(self.local(), len(grid))
        onto = self.level_text(level)
        if self.random.random() < 0.2 and len(self.machine) == 1:
            onto = f"Grid({', '.join(map(str, grid))})"
        self.compound(targets, onto, [])

    def distribute_onto_tensor(self, level):
        """Follows the distribution of a tensor that has one."""
        placed = [t for t in self.indices if t in self.program.distributions]
        following = [t for t in placed if t not in self.program.on_line and t not in self.program.larger]
        if not following:
            return
        tensor = self.random.choice(following)
        roles, cyclic = self.program.distributions[tensor][level]
        cut = [role for role in roles if isinstance(role, int)]
        targets, rounds = [], []
        for dimension in cut:
            wanted = {self.indices[tensor][dimension]}
            fitting = [v for v in self.local() if self.origins[v] == wanted]
            if not fitting or any(self.origins[v] == wanted for v in targets):
                return
            targets.append(self.random.choice(fitting))
            if dimension in cyclic:
                rounds.append(f"{targets[-1]}_round")
                self.origins[rounds[-1]] = wanted
        if targets:
            self.random.shuffle(targets)
            self.compound(targets, self.level_text(level, tensor), rounds)

    def compound(self, targets, onto, rounds):
        outer, inner = [self.name() for _ in targets], [self.name() for _ in targets]
        lists = [f"{{{', '.join(names)}}}" for names in (targets, outer, inner)]
        self.commands.append(f"distribute({', '.join(lists)}, {onto})")
        below = max([self.loops.index(v) + 1 for v in self.distributed], default=0)
        above = [v for v in self.loops[:below] if v not in targets]
        rest = [v for v in self.loops[below:] if v not in targets]
        for names in (outer, inner):
            for v, target in zip(names, targets):
                self.origins[v] = self.origins[target]
        self.loops = above + outer + rounds + inner + rest
        self.distributed += outer

    def distribute_bare(self, level):
        count = self.random.randint(1, len(self.machine[level]))
        some = self.random.sample(self.local(), min(count, len(self.local())))
        if some:
            self.commands.append(f"distribute({{{', '.join(some)}}}, {self.level_text(level)})")
            self.distributed += some

    def communicate(self):
        legal = [v for v in self.loops if v not in self.kernel]
        for tensor in self.indices:
            if legal and self.random.random() < 0.7:
                self.communicated[tensor] = self.random.choice(legal)
                self.commands.append(f"communicate({tensor}, {self.communicated[tensor]})")

    def substitute(self):
        """Only if the innermost three loops already are a matrix product."""
        if self.expr[0] != "*" or self.expr[1][0] != "access" or self.expr[2][0] != "access":
            return
        kernel = self.loops[-3:]
        held = [*self.distributed, *self.communicated.values()]
        # The tiles of a tiled loop may cover ranges with gaps, which substitute refuses.
        if len(kernel) < 3 or any(v in held or self.origins[v] != {v} for v in kernel):
            return
        accesses = (self.left, self.expr[1][2], self.expr[2][2])
        uses = sorted(tuple(indices.count(v) for indices in accesses) for v in kernel)
        if uses == [(0, 1, 1), (1, 0, 1), (1, 1, 0)]:
            self.kernel = kernel
            self.commands.append(f"substitute({{{', '.join(kernel)}}}, gemm)")

    def parallelize(self):
        """Parallelizes a loop over indices of the output, below all distributed and communicated loops."""
        if self.kernel or len(self.communicated) < len(self.indices) or self.random.random() < 0.7:
            return
        below = max(self.loops.index(v) for v in [*self.distributed, *self.communicated.values()]) + 1
        legal = [v for v in self.loops[below:] if self.origins[v] <= set(self.left)]
        if legal:
            self.commands.append(f"parallelize({self.random.choice(legal)})")
