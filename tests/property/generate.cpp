#include "generate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "model.h"

namespace distal::core::property {

namespace {

constexpr int64_t kMostProcessors = 36;
constexpr int64_t kMostPoints = 700;  // of a statement; without a communicate, each point is a step

const std::vector<std::string>& variable_names() {
  static const std::vector<std::string> names{"i", "j", "k", "l", "m"};
  return names;
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

class Generator {
 public:
  explicit Generator(uint64_t seed) : choice_(seed), numbers_(choice_) {}

  GeneratedProgram run() {
    choose_type();
    choose_machine();
    choose_variables();
    std::string statements;
    int count = choice_.chance(82) ? 1 : static_cast<int>(choice_.between(2, 3));
    for (int s = 0; s < count; ++s) statements += statement();
    std::string text = numbers_.declarations() + machine_text_ + type_text_ + tensor_text_ + "\n" + statements;
    bool wrong = choice_.chance(4);
    if (wrong) text += mistake();
    return {text, wrong};
  }

 private:
  void choose_type() {
    static const std::vector<std::string> names{"int64", "int32",           "double",
                                                "float", "complex<double>", "complex<float>"};
    std::string type = names[choice_.weighted({70, 6, 12, 4, 4, 4})];
    whole_ = type[0] == 'i';
    if (type != "double") type_text_ = "type " + type + "\n";
  }

  // ---- machine ----

  void choose_machine() {
    size_t levels = choice_.weighted({8, 57, 27, 8});
    int64_t processors = 1;
    size_t dimensions = 0;
    for (size_t l = 0; l < levels; ++l) {
      Grid grid;
      size_t count = 1 + choice_.weighted({40, 40, 20});
      for (size_t d = 0; d < count && dimensions < 4; ++d, ++dimensions) {
        int64_t most = std::max<int64_t>(1, kMostProcessors / processors);
        int64_t extent = std::min<int64_t>(most, choice_.of(std::vector<int64_t>{1, 2, 2, 2, 3, 3, 4}));
        processors *= extent;
        grid.extents.push_back(numbers_.write(extent));
      }
      if (!grid.extents.empty()) machine_.levels.push_back(grid);
    }
    if (machine_.levels.empty()) return;
    // Some processors may idle.
    int64_t count = processors + (choice_.chance(5) ? choice_.between(1, 3) : 0);
    declare_machine(machine_, "M", processors, count);
    if (choice_.chance(25)) choose_other_machine(count);
  }

  void declare_machine(Machine& machine, const std::string& name, int64_t processors, int64_t count) {
    machine.name = name;
    machine.text = grids_text(machine);
    if (count > processors || choice_.chance(8)) {
      const char* form = machine.levels.size() > 1 ? "{} processors as ({})" : "{} processors as {}";
      machine.text = fmt::format(fmt::runtime(form), in_parentheses(numbers_.write(count).text), machine.text);
    }
    machine_text_ += fmt::format("machine {} = {}\n", name, machine.text);
  }

  // A second machine of equally many processors: a line of them, or a grid that may leave some of them idle.
  void choose_other_machine(int64_t count) {
    int64_t rows = choice_.between(1, 3), columns = std::max<int64_t>(1, count / rows);
    if (choice_.chance(30)) {
      other_ = {"N", {Grid{{{count, std::to_string(count)}}}}, ""};
      other_.text = fmt::format("{} processors", count);
      machine_text_ += fmt::format("machine N = {}\n", other_.text);
      return;
    }
    if (rows > count) rows = 1;
    Grid outer{{numbers_.write(rows)}}, inner{{numbers_.write(columns)}};
    if (choice_.chance(60)) {
      outer.extents.push_back(inner.extents[0]);
      other_.levels = {outer};
    } else {
      other_.levels = {outer, inner};
    }
    declare_machine(other_, "N", rows * columns, count);
  }

  static std::string in_parentheses(const std::string& number) {
    return number.find(' ') == std::string::npos ? number : "(" + number + ")";
  }

  static std::string grids_text(const Machine& machine) {
    std::vector<std::string> grids;
    for (const Grid& grid : machine.levels) {
      std::vector<std::string> extents;
      for (const Quantity& q : grid.extents) extents.push_back(q.text);
      grids.push_back(fmt::format("Grid({})", fmt::join(extents, ", ")));
    }
    return fmt::format("{}", fmt::join(grids, " of "));
  }

  // ---- variables and tensors ----

  void choose_variables() {
    size_t count = 1 + choice_.weighted({8, 22, 40, 20, 10});
    static const std::vector<int64_t> sizes{1, 2, 2, 3, 3, 4, 5, 5, 6, 7, 7, 8, 9, 11, 13};
    int64_t points = 1;
    for (size_t v = 0; v < count; ++v) {
      const std::string& name = variable_names()[v];
      std::string shared = v == 0 ? "" : size_of_[choice_.of(variables_)];
      if (v > 0 && choice_.chance(30) && points * numbers_.value(shared) <= kMostPoints) {
        size_of_[name] = shared;
      } else {
        // Some of the allowed points are left for the later variables, so that these are not always small.
        int64_t most = std::max<int64_t>(2, kMostPoints / points / (count - v > 2 ? 9 : count - v > 1 ? 4 : 1));
        size_of_[name] = "n" + name;
        numbers_.declare(size_of_[name], choice_.chance(2) ? 0 : std::min(choice_.of(sizes), most));
      }
      points *= std::max<int64_t>(1, numbers_.value(size_of_[name]));
      variables_.push_back(name);
    }
  }

  std::vector<std::string> random_indices() {
    size_t count = choice_.weighted({8, 22, 36, 18, 9, 7});
    std::vector<std::string> pool = variables_;
    choice_.shuffle(pool);
    if (pool.size() > count) pool.resize(count);
    if (!pool.empty() && pool.size() < 4 && choice_.chance(8)) {
      pool.insert(pool.begin() + choice_.below(int64_t(pool.size()) + 1), choice_.of(pool));
    }
    return pool;
  }

  std::vector<std::string> sizes_of(const std::vector<std::string>& indices) const {
    std::vector<std::string> sizes;
    for (const std::string& v : indices) sizes.push_back(size_of_.at(v));
    return sizes;
  }

  // A tensor of that shape, either declared already or new.
  std::string tensor_for(const std::vector<std::string>& indices, const std::vector<std::string>& without) {
    std::vector<std::string> fitting;
    for (const Tensor& t : tensors_) {
      if (t.sizes == sizes_of(indices) && !contains(without, t.name)) fitting.push_back(t.name);
    }
    if (!fitting.empty() && choice_.chance(45)) return choice_.of(fitting);
    return new_tensor(sizes_of(indices));
  }

  std::string new_tensor(const std::vector<std::string>& sizes) {
    static const std::vector<std::string> names{"A", "B", "C", "D", "E", "F", "G", "H", "P", "Q", "R", "S", "T", "U"};
    Tensor made{sizes.empty()                    ? fmt::format("s{}", tensors_.size())
                : tensors_.size() < names.size() ? names[tensors_.size()]
                                                 : fmt::format("T{}", tensors_.size()),
                sizes,
                {}};
    tensor_text_ += declaration(made);
    tensors_.push_back(made);
    return made.name;
  }

  std::string declaration(Tensor& tensor) {
    std::string out = "tensor " + tensor.name;
    if (!tensor.sizes.empty()) out += fmt::format("({})", fmt::join(tensor.sizes, ", "));
    if (!machine_.levels.empty() && choice_.chance(82)) {
      bool has_other = !other_.levels.empty();
      const Machine& machine = has_other && choice_.chance(45) ? other_ : machine_;
      tensor.machine = machine.name;
      out += " : " + distribution(tensor, machine);
      size_t on = choice_.weighted({60, has_other ? 0 : 30, 10});
      if (on == 0) out += " on " + machine.name;
      if (on == 2) out += " on " + machine.text;
    }
    if (tensor.sizes.size() > 1 && choice_.chance(25)) {
      std::vector<int> order;
      for (size_t d = 0; d < tensor.sizes.size(); ++d) order.push_back(static_cast<int>(d));
      choice_.shuffle(order);
      out += fmt::format(" order({})", fmt::join(order, ", "));
    }
    return out + "\n";
  }

  std::string distribution(Tensor& tensor, const Machine& machine) {
    static const std::vector<std::string> letters{"x", "y", "z", "u", "v"}, words{"row", "col", "dep", "ch", "t"};
    bool short_form = choice_.chance(80);
    const std::vector<std::string>& names = short_form ? letters : words;
    std::vector<std::string> levels;
    for (const Grid& grid : machine.levels) levels.push_back(level_text(tensor, grid, names, short_form));
    return fmt::format("{}", fmt::join(levels, ", "));
  }

  std::string level_text(Tensor& tensor, const Grid& grid, const std::vector<std::string>& names, bool short_form) {
    std::vector<int> left;
    for (size_t d = 0; d < tensor.sizes.size(); ++d) left.push_back(static_cast<int>(d));
    std::vector<Role> roles;
    std::vector<std::string> right, cyclic;
    for (const Quantity& extent : grid.extents) {
      Role role = random_role(left);
      if (role.kind == Role::Kind::Partition) {
        std::erase(left, role.dimension);
        const std::string& name = names[static_cast<size_t>(role.dimension)];
        right.push_back(name);
        if (choice_.chance(18)) {
          role.cyclic = true;
          cyclic.push_back(choice_.chance(40) ? name : fmt::format("{} = {}", name, choice_.between(1, 4)));
        }
      } else {
        right.push_back(role.kind == Role::Kind::Broadcast ? "*" : face_text(extent, short_form));
      }
      roles.push_back(role);
    }
    tensor.levels.push_back(roles);
    std::vector<std::string> x(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(tensor.sizes.size()));
    const char* between = short_form ? "" : ", ";
    std::string out = fmt::format("{}", fmt::join(x, between));
    out += fmt::format("{}-> {}", out.empty() ? "" : " ", fmt::join(right, between));
    return cyclic.empty() ? out : out + fmt::format(" cyclic({})", fmt::join(cyclic, ", "));
  }

  Role random_role(const std::vector<int>& left) {
    size_t kind = choice_.weighted({left.empty() ? 0 : 64, 18, 18});
    if (kind == 0) return {Role::Kind::Partition, choice_.of(left), false};
    return {kind == 1 ? Role::Kind::Fix : Role::Kind::Broadcast, 0, false};
  }

  std::string face_text(const Quantity& extent, bool short_form) {
    int64_t face = choice_.below(short_form ? std::min<int64_t>(extent.value, 10) : extent.value);  // one digit
    if (!short_form && choice_.chance(40)) return fmt::format("({} - {})", extent.text, extent.value - face);
    return std::to_string(face);
  }

  // ---- statements ----

  std::string statement() {
    accesses_left_ = static_cast<int>(choice_.between(1, 4));
    bool matrix_product = variables_.size() >= 3 && choice_.chance(25);
    std::vector<Term> terms = matrix_product ? product_of_matrices() : sum();
    if (!matrix_product) output_indices_ = output_of(variables_of(terms));
    std::string op = choice_.of(std::vector<std::string>{"=", "=", "=", "=", "=", "=", "=", "+=", "+=", "-="});
    std::vector<std::string> read;
    for (const TensorAccess& a : accesses_of(terms)) read.push_back(a.tensor);
    TensorAccess lhs{tensor_for(output_indices_, read), output_indices_};
    if (op != "=" && choice_.chance(20)) lhs = shifted_access(output_indices_);
    bool updates = choice_.chance(7);
    if (updates) add_output_to(terms, lhs);
    Statement made = make_statement(lhs, terms);
    made.product_of_two = matrix_product && !updates;
    return fmt::format("{} {} {}\n", text_of(made.lhs), op, text_of(made.terms)) + schedule_of(made) + "\n";
  }

  // The right side reads the element that is written: in a term of its own, or as a factor.
  void add_output_to(std::vector<Term>& terms, const TensorAccess& lhs) {
    std::vector<std::string> used;
    for (const std::string& v : lhs.indices) {
      if (!contains(used, v)) used.push_back(v);
    }
    Factor read{text_of(lhs), {lhs}, used, used};
    if (choice_.chance(70)) {
      terms.push_back({terms.empty() ? "" : " + ", {{literal(), {}, {}, {}}, read}});
    } else {
      terms.back().factors.push_back(read);
    }
  }

  // An access with shifted indices, to a new tensor that has just the elements, or some more.
  TensorAccess shifted_access(const std::vector<std::string>& indices) {
    TensorAccess out{"", indices};
    std::vector<std::string> sizes;
    for (const std::string& v : indices) {
      if (choice_.chance(45)) {
        out.shifts.emplace_back();
        sizes.push_back(size_of_.at(v));
        continue;
      }
      int64_t offset = choice_.between(0, 3);
      Quantity by = offset == 0 ? Quantity{0, "0"} : numbers_.write(offset);
      out.shifts.push_back(" + " + by.text);
      sizes.push_back(fmt::format("e{}", shifted_sizes_++));
      numbers_.declare(sizes.back(), numbers_.value(size_of_.at(v)) + by.value + (choice_.chance(20) ? 1 : 0));
    }
    out.tensor = new_tensor(sizes);
    return out;
  }

  std::vector<std::string> output_of(const std::vector<std::string>& used) {
    std::vector<std::string> indices;
    for (const std::string& v : used) {
      if (choice_.chance(62)) indices.push_back(v);
    }
    for (const std::string& v : variables_) {  // an index that the right side lacks: a broadcast
      if (!contains(used, v) && indices.size() < 4 && choice_.chance(used.empty() ? 50 : 6)) indices.push_back(v);
    }
    if (choice_.chance(50)) choice_.shuffle(indices);
    if (!indices.empty() && indices.size() < 4 && choice_.chance(5)) indices.push_back(choice_.of(indices));
    return indices;
  }

  // A matrix product: rows, columns and a sum in any index order, with further variables as batches.
  std::vector<Term> product_of_matrices() {
    std::vector<std::string> v = variables_;
    choice_.shuffle(v);
    std::vector<std::string> a{v[0], v[1]}, b{v[0], v[2]}, c{v[2], v[1]};
    for (size_t extra = 3; extra < v.size(); ++extra) {
      if (choice_.chance(60)) continue;
      a.push_back(v[extra]);
      if (choice_.chance(70)) b.push_back(v[extra]);
      if (b.back() != v[extra] || choice_.chance(50)) c.push_back(v[extra]);
    }
    for (auto* list : {&a, &b, &c}) {
      if (choice_.chance(40)) choice_.shuffle(*list);
    }
    output_indices_ = a;
    bool swapped = choice_.chance(30);
    Factor left = access(swapped ? c : b);
    return {{"", {left, access(swapped ? b : c)}}};
  }

  std::vector<Term> sum() {
    std::vector<Term> out;
    std::string sign = choice_.chance(10) ? "-" : "";
    size_t terms = 1 + choice_.weighted({58, 30, 12});
    for (size_t t = 0; t < terms; ++t) {
      if (t > 0) sign = choice_.chance(60) ? " + " : " - ";
      out.push_back({sign, product()});
    }
    return out;
  }

  std::vector<Factor> product() {
    std::vector<Factor> out{factor()};
    size_t more = choice_.weighted({45, 40, 15});
    for (size_t f = 0; f < more && accesses_left_ > 0; ++f) out.push_back(factor());
    return out;
  }

  Factor factor() {
    if (accesses_left_ <= 0 || choice_.chance(7)) return {literal(), {}, {}, {}};
    if (accesses_left_ > 1 && depth_ < 2 && choice_.chance(10)) {
      ++depth_;
      std::vector<Term> inside = sum();
      --depth_;
      return in_parentheses(inside);
    }
    if (choice_.chance(5)) {
      Factor inside = factor();
      inside.text = "(-" + inside.text + ")";
      return inside;
    }
    return access(random_indices());
  }

  static Factor in_parentheses(const std::vector<Term>& terms) {
    Factor out{"(" + text_of(terms) + ")", accesses_of(terms), variables_of(terms), variables_of(terms)};
    for (const Term& t : terms) {
      std::vector<std::string> used = variables_of({t});
      std::erase_if(out.common, [&](const std::string& v) { return !contains(used, v); });
    }
    return out;
  }

  // A number, or a param.
  std::string literal() {
    if (choice_.chance(15)) return size_of_.at(choice_.of(variables_));
    static const std::vector<std::string> fractions{"0.5", "1.25", "2e-1", "3."};
    if (!whole_ && choice_.chance(40)) return choice_.of(fractions);
    return std::to_string(choice_.between(0, 5));
  }

  Factor access(const std::vector<std::string>& indices) {
    --accesses_left_;
    TensorAccess made = !indices.empty() && choice_.chance(6) ? shifted_access(indices)
                                                              : TensorAccess{tensor_for(indices, {}), indices};
    std::vector<std::string> used;
    for (const std::string& v : indices) {
      if (!contains(used, v)) used.push_back(v);
    }
    return {text_of(made), {made}, used, used};
  }

  // ---- schedules ----

  std::string schedule_of(const Statement& statement) {
    if (choice_.chance(5)) return "";
    next_name_ = 0;
    std::string commands = choice_.chance(14) ? staged_schedule(statement) : "";
    if (commands.empty()) commands = plain_schedule(statement, {});
    return commands.empty() ? "" : "schedule\n" + commands;
  }

  // `copies` maps loops with new names to the variables whose extents they have.
  std::string plain_schedule(const Statement& statement, const std::map<std::string, std::string>& copies) {
    std::map<std::string, Tensor> tensors;
    std::map<std::string, int64_t> extents;
    bool on_machine = false;
    // The statement runs on the machine of the first tensor that has one, the output before the operands.
    const Machine* machine = machine_.levels.empty() || !other_.levels.empty() ? nullptr : &machine_;
    std::vector<TensorAccess> all = statement.rhs;
    all.insert(all.begin(), statement.lhs);
    for (const TensorAccess& a : all) {
      const Tensor& t = tensor(a.tensor);
      tensors[t.name] = t;
      if (!on_machine && !t.levels.empty()) machine = t.machine == "M" ? &machine_ : &other_;
      on_machine = on_machine || !t.levels.empty();
    }
    for (const std::string& v : statement.variables) {
      auto copy = copies.find(v);
      extents[v] = numbers_.value(size_of_.at(copy == copies.end() ? v : copy->second));
    }
    return random_schedule(choice_, numbers_, {statement, tensors, extents, machine, on_machine, next_name_});
  }

  const Tensor& tensor(const std::string& name) const {
    return *std::find_if(tensors_.begin(), tensors_.end(), [&](const Tensor& t) { return t.name == name; });
  }

  // A precompute of a subexpression into a tensor makes two statements, each with its own schedule. Empty if no
  // subexpression can be precomputed.
  std::string staged_schedule(const Statement& statement) {
    std::optional<Subexpression> part = random_subexpression(choice_, statement.terms, statement.lhs);
    if (!part) return "";
    std::vector<std::string> indices = part->free, used{statement.lhs.tensor}, copies;
    choice_.shuffle(indices);
    for (const TensorAccess& a : statement.rhs) used.push_back(a.tensor);
    std::string home = tensor_for(indices, used);
    std::map<std::string, std::string> copy_of, original_of;
    for (const std::string& v : indices) {
      copies.push_back(fmt::format("{}{}", v, next_name_++));
      copy_of[v] = copies.back();
      original_of[copies.back()] = v;
    }
    Statement producer = make_statement({home, copies}, renamed(part->terms, copy_of));
    Statement consumer = make_statement(statement.lhs, filled(*part, {home, indices}));
    producer.product_of_two = statement.product_of_two && part->rest.size() == 1 && part->rest[0].factors.size() == 1;
    std::string first = fmt::format("  precompute({}, {{{}}}, {{{}}}, {})\n", text_of(part->terms),
                                    fmt::join(indices, ", "), fmt::join(copies, ", "), home);
    return merged(first + plain_schedule(producer, original_of), plain_schedule(consumer, {}));
  }

  // Interleaves the lines of both at random; each keeps its own order.
  std::string merged(const std::string& a, const std::string& b) {
    std::string out;
    size_t at_a = 0, at_b = 0;
    bool together = choice_.chance(60);
    while (at_a < a.size() || at_b < b.size()) {
      bool take_a = at_b == b.size() || (at_a < a.size() && (together || choice_.chance(50)));
      const std::string& from = take_a ? a : b;
      size_t& at = take_a ? at_a : at_b;
      size_t end = from.find('\n', at) + 1;
      out += from.substr(at, end - at);
      at = end;
    }
    return out;
  }

  // A last statement that the compiler must refuse.
  std::string mistake() {
    static const std::vector<std::string> commands{"split(zz, zo, zi, 2)",
                                                   "split(z, zo, zo, 2)",
                                                   "divide(z, zo, zi, 0)",
                                                   "split(z, zo, zi, 1 - 1)",
                                                   "reorder({z, z})",
                                                   "collapse(z, z, f)",
                                                   "collapse(z, zz, f)",
                                                   "rotate(z, {z}, r)",
                                                   "communicate(Nobody, z)",
                                                   "communicate(Wrong, zz)",
                                                   "substitute({z}, gemm)",
                                                   "substitute({z}, fft)",
                                                   "distribute(z, zo, zi, Nobody)",
                                                   "distribute({z, z}, {zo, yo}, {zi, yi}, Grid(2, 2))",
                                                   "parallelize(y)",
                                                   "split(z, y, zi, 2)"};
    return "tensor Wrong(4)\ntensor Input(4, 3)\nWrong(z) = Input(z, y)\nschedule\n  " + choice_.of(commands) + "\n";
  }

  Choice choice_;
  Numbers numbers_;
  bool whole_ = true;
  std::string type_text_, machine_text_, tensor_text_;
  Machine machine_, other_;  // without levels there is none
  std::vector<std::string> variables_;
  std::map<std::string, std::string> size_of_;
  std::vector<Tensor> tensors_;
  // State of the statement being written.
  std::vector<std::string> output_indices_;
  int next_name_ = 0;  // number of the next new loop
  int accesses_left_ = 0;
  int depth_ = 0;
  int shifted_sizes_ = 0;  // number of the next param for the size of a shifted tensor
};

}  // namespace

GeneratedProgram generate_program(uint64_t seed) { return Generator(seed).run(); }

}  // namespace distal::core::property
