internal import ArborFoundation
internal import ArborModel

/// Accumulates aggregates of one field from record bytes, without creating values.
struct FieldSummary {
  private(set) var count = 0
  private let kind: FieldKind
  // 128 bits cannot overflow: that would take more terms than fit in memory.
  private var whole: Int128 = 0
  private var leastWhole = Int64.max
  private var greatestWhole = Int64.min
  private var real = 0.0
  private var leastReal = Double.infinity
  private var greatestReal = -Double.infinity
  /// The least decimal, text or other byte string. The byte order of these is the order of their
  /// values.
  private var leastBytes: [UInt8] = []
  /// The greatest decimal, text or other byte string.
  private var greatestBytes: [UInt8] = []
  private var decimals = NumberSum()
  /// The values of untyped fields.
  private var values = ValueSummary()

  init(kind: FieldKind) { self.kind = kind }

  /// Adds the value of a record's field, which must be of this summary's kind.
  @inline(__always)
  mutating func add(_ record: RecordView, _ field: RecordField) {
    if record.isNull(field) { return }
    count += 1
    switch kind {
    case .double, .date: add(record.load(field, as: Double.self))
    case .int64: add(record.load(field, as: Int64.self))
    case .int32: add(Int64(record.load(field, as: Int32.self)))
    case .int16: add(Int64(record.load(field, as: Int16.self)))
    case .float: add(Double(record.load(field, as: Float.self)))
    case .boolean: add(Int64(record.load(field, as: UInt8.self) == 0 ? 0 : 1))
    case .decimal, .string, .uri, .binary, .json, .uuid, .reference, .tagged:
      addOther(record, field)
    }
  }

  /// Adds a whole number that occurs the given number of times.
  @inline(__always)
  mutating func add(_ number: Int64, times: Int) {
    count += times
    whole += Int128(number) * Int128(times)
    leastWhole = min(leastWhole, number)
    greatestWhole = max(greatestWhole, number)
  }

  @inline(__always)
  private mutating func add(_ number: Int64) {
    whole += Int128(number)
    leastWhole = min(leastWhole, number)
    greatestWhole = max(greatestWhole, number)
  }

  @inline(__always)
  private mutating func add(_ number: Double) {
    real += number
    leastReal = min(leastReal, number)
    greatestReal = max(greatestReal, number)
  }

  @inline(never)
  private mutating func addOther(_ record: RecordView, _ field: RecordField) {
    switch kind.form {
    case .decimal:
      decimals.add(record.value(field))
      addBytes(record.bytes(field))
    case .identifier:
      addBytes(UnsafeRawBufferPointer(start: record.base + Int(field.offset), count: 16))
    case .tagged: values.add(record.value(field))
    case .text where kind == .json: values.add(record.value(field))
    case .text: addBytes(record.bytes(field))
    case .whole, .flag, .real, .reference: break
    }
  }

  private mutating func addBytes(_ bytes: UnsafeRawBufferPointer) {
    if count == 1 || leastBytes.withUnsafeBytes({ Ordering(bytes: bytes, $0) == .less }) {
      leastBytes = Array(bytes)
    }
    if count == 1 || greatestBytes.withUnsafeBytes({ Ordering(bytes: bytes, $0) == .greater }) {
      greatestBytes = Array(bytes)
    }
  }

  /// Returns the result of a function over all added values.
  func value(of function: AggregateExpression.Function) -> PropertyValue {
    switch function {
    case .count: return .integer(Int64(count))
    case .sum: return sum
    case .average: return average
    case .minimum, .maximum: return count == 0 ? .null : extreme(isLeast: function == .minimum)
    case .median, .mode, .standardDeviation:
      stopProgram("A summary of a field doesn't keep values.")
    }
  }

  private var sum: PropertyValue {
    switch kind.form {
    case .real where kind != .date: return count == 0 ? .integer(0) : NumberSum.real(real)
    case .decimal: return decimals.value
    case .tagged,
      .text where kind == .tagged || kind == .json:
      return values.value(of: .sum)
    default: return wholeSum.value
    }
  }

  private var wholeSum: NumberSum {
    var sum = NumberSum()
    sum.add(whole)
    return sum
  }

  private var average: PropertyValue {
    guard count > 0 else { return .null }
    switch kind.form {
    case .real where real.isNaN: return .null
    case .real: return kind.stored.value(ofReal: real / Double(count))
    case .decimal: return decimals.average(of: count)
    case .tagged,
      .text where kind == .tagged || kind == .json:
      return values.value(of: .average)
    default: return wholeSum.average(of: count)
    }
  }

  private func extreme(isLeast: Bool) -> PropertyValue {
    let whole = isLeast ? leastWhole : greatestWhole
    let real = isLeast ? leastReal : greatestReal
    let bytes = isLeast ? leastBytes : greatestBytes
    let stored = kind.stored
    switch stored.form {
    case .whole, .flag: return stored.value(ofWhole: whole)
    case .real: return stored.value(ofReal: real)
    case .tagged,
      .text where kind == .tagged || kind == .json:
      return values.value(of: isLeast ? .minimum : .maximum)
    case .decimal, .text, .identifier:
      return bytes.withUnsafeBytes { stored.value(ofBytes: $0) } ?? .null
    case .reference: return .null
    }
  }
}

/// Summarizes one attribute of the rows themselves. This is the most common case; its loop touches
/// only the field.
struct FieldSummaries: RowSink {
  private let slot: Int
  private(set) var summary: FieldSummary

  init(_ attribute: AttributeSchema) {
    slot = attribute.slot
    summary = FieldSummary(kind: attribute.field.kind)
  }

  mutating func take(_ rows: Span<FoundRow>, of entity: EntitySchema) -> Bool {
    let field = entity.attributes[slot].field
    for index in rows.indices { summary.add(rows[index].record, field) }
    return true
  }
}
