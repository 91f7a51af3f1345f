internal import ArborFoundation

/// A comparison of an attribute with a constant other than `nil`, compiled to a closure that reads
/// and tests the field's slot.
struct FieldComparison {
  let field: RecordField
  let comparison: ComparisonOperator
  let options: ComparisonOptions
  let constant: PropertyValue
  let site: PredicateSite
  let locale: Locale

  /// Compiles the comparison to code that charges work for each byte of the field.
  func charging() throws(ArborError) -> CompiledNode {
    let node = try compile()
    guard case .code(let code) = node, field.kind.form == .text || field.kind.form == .tagged else {
      return node
    }
    let (field, closure) = (field, code.closure)
    var (fixed, unit) = (code.cost, comparison.workPerByte(options))
    if case .list(let members) = constant, comparison == .in,
      field.kind.form == .tagged || options.contains(.localized)
    {
      // Each member is compared with the field.
      fixed += members.reduce(0) { $0 + 60 + unit * $1.work }
      unit *= members.count
    }
    let (work, workPerByte) = (fixed, unit)
    return .code(cost: code.cost) { record, number, resolver in
      let length = record.isNull(field) ? 0 : record.bytes(field).count
      return resolver?.charge(work + length * workPerByte) ?? true
        && closure(record, number, resolver)
    }
  }

  func compile() throws(ArborError) -> CompiledNode {
    switch (comparison, constant) {
    case (.in, .list(let members)): return try membership(members)
    case (.in, _): return try throughValues()
    default: break
    }
    switch field.kind.form {
    case .whole, .flag, .reference: return wholeNumber(WholeNumbers.interval(comparison, constant))
    case .real: return real(field.kind.realInterval(comparison, constant))
    case .text where field.kind == .string: return try text()
    // Only the equality of JSON text is that of the values.
    case .text
    where field.kind == .json && (![.equal, .notEqual].contains(comparison) || !options.isEmpty):
      return try throughValues()
    case .decimal, .text: return try bytes()
    case .identifier: return identifier()
    case .tagged: return try throughValues()
    }
  }

  /// Compiles a comparison of `PropertyValue`s, for attributes without a type and for rare cases.
  private func throughValues() throws(ArborError) -> CompiledNode {
    let (field, constant) = (field, constant)
    if comparison == .matches, case .string(let pattern) = constant {
      _ = try RegularExpressionMatcher(pattern, options, site: site)
    }
    let semantics = ComparisonSemantics(comparison, options, locale: locale)
    return .code(cost: 40) { record, _, resolver in
      (try? semantics.holds(record.value(field), constant, resolver)) ?? false
    }
  }

  // MARK: Numbers

  private func wholeNumber(_ interval: NumericInterval<Int64>) -> CompiledNode {
    switch field.kind.width {
    case 1: wholeNumber(interval, as: Int8.self)
    case 2: wholeNumber(interval, as: Int16.self)
    case 4: wholeNumber(interval, as: Int32.self)
    default: wholeNumber(interval, as: Int64.self)
    }
  }

  private func wholeNumber<Number: FixedWidthInteger & SignedInteger & BitwiseCopyable>(
    _ interval: NumericInterval<Int64>, as type: Number.Type
  ) -> CompiledNode {
    let possible = interval.intersection(.closed(Int64(Number.min), Int64(Number.max)))
    guard case .closed(let least, let greatest) = possible else { return .constant(false) }
    let field = field
    let (lower, upper) = (Number(least), Number(greatest))
    if lower == .min, upper == .max {
      return .code(cost: 1) { record, _, _ in !record.isNull(field) }
    }
    if lower == upper, lower != 0 {
      return .code(cost: 1) { record, _, _ in record.load(field, as: Number.self) == lower }
    }
    // The slot of a null field is zero, so only intervals that contain zero require a null check.
    if lower > 0 || upper < 0 {
      return .code(cost: 1) { record, _, _ in
        let number = record.load(field, as: Number.self)
        return number >= lower && number <= upper
      }
    }
    return .code(cost: 1) { record, _, _ in
      let number = record.load(field, as: Number.self)
      return number >= lower && number <= upper && !record.isNull(field)
    }
  }

  private func real(_ interval: NumericInterval<Double>) -> CompiledNode {
    field.kind.width == 4 ? single(interval) : double(interval)
  }

  private func double(_ interval: NumericInterval<Double>) -> CompiledNode {
    guard case .closed(let lower, let upper) = interval else { return .constant(false) }
    let field = field
    return .code(cost: 1) { record, _, _ in
      let number = record.load(field, as: Double.self)
      return number >= lower && number <= upper && !record.isNull(field)
    }
  }

  private func single(_ interval: NumericInterval<Double>) -> CompiledNode {
    guard case .closed(let lower, let upper) = interval else { return .constant(false) }
    let field = field
    return .code(cost: 1) { record, _, _ in
      let number = Double(record.load(field, as: Float.self))
      return number >= lower && number <= upper && !record.isNull(field)
    }
  }

  // MARK: Bytes

  private func text() throws(ArborError) -> CompiledNode {
    guard case .string(let pattern) = constant else { return .constant(false) }
    let matcher = try TextMatcher.make(
      comparison, options, pattern, site: site, locale: locale)
    if matcher is NoBytes { return .constant(false) }
    let isPlain = options.folding.isEmpty && !options.contains(.localized)
    return .code(cost: isPlain ? 3 : 8, ByteLeaf.make(field, matcher))
  }

  /// Compiles a comparison of decimals, binary values or URIs. Their bytes have the same equality
  /// and order as the values.
  private func bytes() throws(ArborError) -> CompiledNode {
    guard let bytes = Self.storedBytes(of: constant, in: field.kind) else {
      return beyondAllBytes()
    }
    guard let matcher = ConstantBytes(bytes).matcher(for: comparison) else {
      return try throughValues()
    }
    return .code(cost: 3, ByteLeaf.make(field, matcher))
  }

  /// Compiles a comparison of decimals with infinity. Infinity has no encoding, but all decimals
  /// are on the same side of it.
  private func beyondAllBytes() -> CompiledNode {
    guard field.kind == .decimal, case .double(let number) = constant, number.isInfinite,
      comparison.accepts(number > 0 ? .less : .greater)
    else { return .constant(false) }
    let field = field
    return .code(cost: 1) { record, _, _ in !record.isNull(field) }
  }

  private func identifier() -> CompiledNode {
    guard case .uuid = constant, let bytes = Self.storedBytes(of: constant, in: .uuid),
      let matcher = ConstantBytes(bytes).matcher(for: comparison)
    else { return .constant(false) }
    return .code(cost: 2, ByteLeaf.makeFixed(field, matcher))
  }

  /// Returns the stored bytes of a constant, or `nil` for a constant of another kind.
  static func storedBytes(of constant: PropertyValue, in kind: FieldKind) -> [UInt8]? {
    kind == .decimal ? constant.numberKey : kind.stored.key(of: constant)?.bytes
  }

  // MARK: Lists

  private func membership(_ members: [PropertyValue]) throws(ArborError) -> CompiledNode {
    let test = try test(ofMembers: members)
    guard members.contains(.null) else { return test }
    let field = field
    let isNull = CompiledNode.code(cost: 1) { record, _, _ in record.isNull(field) }
    return PredicateCompilation.join([isNull, test], neutral: false)
  }

  private func test(ofMembers members: [PropertyValue]) throws(ArborError) -> CompiledNode {
    if field.kind == .string, options.contains(.localized) { return try throughValues() }
    if field.kind == .json, !options.isEmpty { return try throughValues() }
    switch field.kind.form {
    case .whole, .flag, .reference: return wholeNumbers(members)
    case .real where field.kind.width == 4:
      return doubles(members) { Double($0.load($1, as: Float.self)) }
    case .real: return doubles(members) { $0.load($1, as: Double.self) }
    case .text, .decimal, .identifier: return byteSet(members)
    case .tagged: return try throughValues()
    }
  }

  private func wholeNumbers(_ members: [PropertyValue]) -> CompiledNode {
    switch field.kind.width {
    case 1: wholeNumbers(members, as: Int8.self)
    case 2: wholeNumbers(members, as: Int16.self)
    case 4: wholeNumbers(members, as: Int32.self)
    default: wholeNumbers(members, as: Int64.self)
    }
  }

  private func wholeNumbers<Number: FixedWidthInteger & SignedInteger & BitwiseCopyable>(
    _ members: [PropertyValue], as type: Number.Type
  ) -> CompiledNode {
    let numbers = Set(
      members.compactMap { member -> Number? in
        guard case .closed(let number, _) = WholeNumbers.interval(.equal, member) else {
          return nil
        }
        return Number(exactly: number)
      }
    ).sorted()
    if numbers.isEmpty { return .constant(false) }
    let field = field
    return .code(cost: 4) { record, _, _ in
      numbers.containsSorted(record.load(field, as: Number.self)) && !record.isNull(field)
    }
  }

  private func doubles(
    _ members: [PropertyValue], _ load: @escaping (RecordView, RecordField) -> Double
  ) -> CompiledNode {
    let field = field
    let numbers = Set(
      members.compactMap { member -> Double? in
        guard case .closed(let number, _) = field.kind.realInterval(.equal, member) else {
          return nil
        }
        return number
      }
    ).sorted()
    if numbers.isEmpty { return .constant(false) }
    return .code(cost: 5) { record, _, _ in
      numbers.containsSorted(load(record, field)) && !record.isNull(field)
    }
  }

  private func byteSet(_ members: [PropertyValue]) -> CompiledNode {
    let folding = field.kind == .string ? options.folding : []
    let runs = members.compactMap { member -> [UInt8]? in
      if case .string(let text) = member, field.kind == .string {
        return Array(folding.fold(text).utf8)
      }
      return Self.storedBytes(of: member, in: field.kind)
    }
    if runs.isEmpty { return .constant(false) }
    let set = ByteSet(runs)
    if field.kind == .uuid { return .code(cost: 5, ByteLeaf.makeFixed(field, set)) }
    return .code(cost: 6, ByteLeaf.make(field, TextMatcher.folding(set, folding)))
  }
}
