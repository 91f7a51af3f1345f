import ArborFoundation
import ArborJSON
import ArborModel

/// Reads and writes the values of one attribute as JSON, without loss. A value of another type is
/// an error unless a conversion is specified.
///
/// | attribute | JSON |
/// |---|---|
/// | integers | an integer in range; `1.0` is an integer |
/// | any number | a string, if the attribute or the import has a number format |
/// | float, double | a number that can be approximated by a finite one |
/// | decimal | a number of up to 38 digits |
/// | boolean | `true`, `false` |
/// | string | a string |
/// | date | as described by ``DateReader`` |
/// | binary, transformable | base64; for a transformable, of its stored bytes |
/// | UUID, URI | a string |
/// | composite | an object with a member for each part |
/// | JSON | any value |
/// | undefined | a Boolean, number or string |
/// | any | `null` clears the attribute |
/// | string, date, float, double | also as described by ``ExactForm`` |
/// | any | conversions by ``ImportConversions`` or by the mapping of a sync |
///
/// Reading returns `nil` instead of throwing, because creating an error requires counting lines
/// from the beginning of the document, and a lenient import lists only the first errors.
/// ``problem(with:)`` creates the error.
///
/// Can be used on any thread: an import reads its next batch on another thread.
final class AttributeCoder: Sendable {
  let name: String
  /// The name of the entity through which the attribute was reached. For a part of a composite
  /// attribute, the name of that attribute.
  let entityName: String
  let slot: Int
  let type: AttributeType
  let kind: any AttributeKind.Type
  /// Whether the store computes the value, so that documents cannot set it.
  let isDerived: Bool
  let userInfo: [String: String]
  /// The parts of a composite attribute.
  let parts: [AttributeCoder]
  /// The raw values of an enumeration, or `nil` if the attribute isn't one.
  private let cases: RawCases?
  /// The attribute, if its JSON has a known structure.
  private let structured: AttributeDescription?
  private let dates: DateReader?
  private let numbers: JSONNumberFormat?
  private let conversions: ImportConversions
  private let conversion: SyncConversion?

  convenience init(
    _ attribute: AttributeSchema, of entity: EntitySchema, in model: ManagedObjectModel,
    _ rules: TextRules = TextRules(), conversion: SyncConversion? = nil
  ) throws(ArborError) {
    try self.init(attribute.description, attribute.slot, entity.name, model, rules, conversion)
  }

  private init(
    _ attribute: AttributeDescription, _ slot: Int, _ entityName: String,
    _ model: ManagedObjectModel, _ rules: TextRules, _ conversion: SyncConversion?
  ) throws(ArborError) {
    name = attribute.name
    self.entityName = entityName
    self.slot = slot
    type = attribute.type
    kind = attribute.type.kind
    isDerived = attribute.derivation != nil
    userInfo = attribute.userInfo
    cases = attribute.rawCases
    structured = attribute.type == .json && attribute.shape != nil ? attribute : nil
    conversions = rules.conversions
    self.conversion = conversion
    dates = attribute.type == .date ? try DateReader(attribute, rules) : nil
    let note = attribute.userInfo["NumberFormat"] ?? attribute.userInfo["numberFormat"]
    if !attribute.type.kind.isNumber {
      numbers = nil
    } else if let note {
      let services = try LocaleSupport.services(for: "the number format of \(attribute.name)")
      let separators = services.separators(of: Locale(identifier: note))
      numbers = JSONNumberFormat(
        decimalSeparator: separators.decimal, groupingSeparator: separators.grouping)
    } else {
      numbers =
        rules.numberFormat ?? (rules.conversions.contains(.numbersFromTexts) ? .spreadsheet : nil)
    }
    guard case .composite(let compositeName) = attribute.type else {
      parts = []
      return
    }
    let composite = model.composites.first { $0.name == compositeName }
    parts = try (composite?.attributes ?? []).map { (part) throws(ArborError) in
      try AttributeCoder(part, 0, "\(entityName).\(attribute.name)", model, rules, nil)
    }
  }

  // MARK: Reading

  /// Returns the value of the attribute, or `nil` if the JSON isn't a valid value.
  func value(_ node: JSONNode) -> PropertyValue? {
    if let conversion { conversion.value(node, for: self) } else { ownValue(node) }
  }

  /// Returns the error for invalid JSON: `unparsableValue` for a string that cannot be parsed,
  /// `invalidDocument` for a value of another type.
  func problem(with node: JSONNode) -> ArborError {
    conversion?.problem(with: node, for: self) ?? ownProblem(with: node)
  }

  /// Returns the value, or throws the error with its location.
  func read(_ node: JSONNode) throws(ArborError) -> PropertyValue {
    guard let value = value(node) else { throw problem(with: node) }
    return value
  }

  /// Returns the date that a value represents, or `nil` if the value isn't valid, the attribute
  /// isn't a date, or a sync converts its values.
  func date(_ node: JSONNode) -> Date? { conversion == nil ? dates?.date(node) : nil }

  /// Returns the value without applying the conversion of a sync.
  func ownValue(_ node: JSONNode) -> PropertyValue? {
    guard let value = valueOfType(node), cases?.contains(value) ?? true,
      structured?.misfit(in: value) == nil
    else { return nil }
    return value
  }

  /// Returns the value of the attribute's type, which may be no case of an enumeration.
  private func valueOfType(_ node: JSONNode) -> PropertyValue? {
    if type == .json { return kind.value(ofDocument: node) }
    if isNull(node) { return .null }
    if let exact = ExactForm.content(of: node) {
      if let value = ExactForm.value(exact, for: type) { return value }
    } else if case .composite = type {
      return composite(node)
    }
    if kind.isNumber, let text = node.string {
      return numbers?.number(text).flatMap { kind.value(ofDocument: $0) }
    }
    if let dates { return dates.date(node).map(PropertyValue.date) }
    return (kind.value(ofDocument: node) ?? converted(node)).map(normalized)
  }

  /// Returns a string in its composed form, if the import asks for it, and any other value
  /// unchanged.
  private func normalized(_ value: PropertyValue) -> PropertyValue {
    guard conversions.contains(.normalizesText), case .string(let text) = value else {
      return value
    }
    return .string(StringFolding.canonical.fold(text))
  }

  private func isNull(_ node: JSONNode) -> Bool {
    node.kind == .null || (conversions.contains(.emptyTextIsNull) && node.isText(""))
  }

  /// Returns the value of a JSON type that only the import's conversions accept, or `nil`.
  private func converted(_ node: JSONNode) -> PropertyValue? {
    if type == .boolean, conversions.contains(.booleans) {
      return (node.string ?? node.number?.text).flatMap { Self.booleans[$0.lowercased()] }
        .map(PropertyValue.boolean)
    }
    if type == .string, conversions.contains(.textsFromNumbers) {
      return node.number.map { .string($0.text) }
    }
    return nil
  }

  private static let booleans = [
    "1": true, "yes": true, "true": true, "0": false, "no": false, "false": false,
  ]

  private func composite(_ node: JSONNode) -> PropertyValue? {
    guard let members = node.members else { return nil }
    var values: [String: PropertyValue] = [:]
    for member in members {
      guard let part = parts.first(where: { $0.name == member.key }),
        let value = part.value(member.value)
      else { return nil }
      values[part.name] = value
    }
    return .composite(values)
  }

  func ownProblem(with node: JSONNode) -> ArborError {
    if case .composite = type, !isNull(node), ExactForm.content(of: node) == nil {
      return compositeProblem(with: node)
    }
    if let cases, let value = valueOfType(node) {
      return node.error(
        "Expected \(cases.expectation) for \(entityName).\(name), but found \(value)."
          + cases.hint(value)
      ).with(entity: entityName, keyPath: name, offending: node.excerpt)
    }
    let misfit =
      type == .json
      ? node.value.numberOutOfRange ?? valueOfType(node).flatMap { structured?.misfit(in: $0) }
      : nil
    if let misfit {
      let part = node.part(at: misfit.steps)
      return part.error(misfit.message(entityName, name)).with(
        entity: entityName, keyPath: misfit.path(below: name), offending: part.excerpt)
    }
    return error(
      node, expectation,
      code: node.kind == .string && isParsed ? .unparsableValue : .invalidDocument)
  }

  private func compositeProblem(with node: JSONNode) -> ArborError {
    guard let members = node.members else {
      return node.error(
        "Expected an object with the parts of \(entityName).\(name), but found \(node.kind)."
      ).with(entity: entityName, keyPath: name, offending: node.excerpt)
    }
    for member in members {
      guard let part = parts.first(where: { $0.name == member.key }) else {
        guard case .composite(let compositeName) = type else { break }
        return member.keyNode.error(
          "\(compositeName) has no part “\(member.key)”. Remove or correct it."
            + NearestName.hint(member.key, in: parts.map(\.name))
        ).with(entity: entityName, keyPath: name)
      }
      if part.value(member.value) == nil { return part.problem(with: member.value) }
    }
    return error(node, expectation, code: .invalidDocument)
  }

  /// Returns the error for an invalid value, with the expected form.
  func error(_ node: JSONNode, _ expectation: String, code: ArborError.Code) -> ArborError {
    node.error(
      "Expected \(expectation) for \(entityName).\(name), but found \(node.kind).",
      code: code
    ).with(entity: entityName, keyPath: name, offending: node.excerpt)
  }

  /// Whether values are parsed from strings.
  private var isParsed: Bool {
    type == .date || kind.isDocumentText || (kind.isNumber && numbers != nil)
  }

  private var expectation: String { dates?.expectation ?? kind.documentExpectation }

  /// The form of values that can be stored without conversion, or `nil` if all values must be
  /// converted.
  var plainForm: PlainForm? {
    // Converted values are not stored as they appear in the document.
    let textConversions: ImportConversions = [.emptyTextIsNull, .normalizesText]
    if conversion != nil || cases != nil
      || (type == .string && !conversions.isDisjoint(with: textConversions))
    {
      return nil
    }
    return PlainForm(type)
  }

  // MARK: Identities

  /// Returns the stored form of an identifying attribute's value from a number or, if the attribute
  /// is numeric, also from a string. Returns `nil` for anything else, and for a number that the
  /// attribute doesn't accept: a string identity accepts numbers only with
  /// ``ImportConversions/textsFromNumbers``.
  func key(_ node: JSONNode) -> PropertyValue? {
    if conversion != nil { return nil }
    guard kind.isNumber else { return node.kind == .number ? ownValue(node) : nil }
    if let number = node.number { return self.number(spelledAs: number.text) }
    return node.string.flatMap(number)
  }

  /// Returns the value of an identifying attribute from a string, or `nil` if the attribute doesn't
  /// accept it.
  func key(spelledAs text: String) -> PropertyValue? {
    // For an attribute of undefined type, only numbers are keys.
    if type != .undefined, let value = type.fitting(.string(text)) { return normalized(value) }
    return number(spelledAs: text)
  }

  private func number(spelledAs text: String) -> PropertyValue? {
    guard let number = JSONNumber(text: text) else { return nil }
    let value = number.int64.map(PropertyValue.integer) ?? number.decimal.map(PropertyValue.decimal)
    return value.flatMap { type.fitting($0) }
  }

  // MARK: Writing

  /// Encodes a value as JSON that decodes to the same value. Returns `nil` for values that JSON can't
  /// represent, such as NaN.
  func json(_ value: PropertyValue) -> JSONValue? {
    if type == .json { return value.json }
    return switch value {
    case .null: .null
    case .boolean(let bool): .bool(bool)
    case .integer(let number): .number(JSONNumber(number))
    case .double(let number): json(number)
    case .decimal(let number): JSONNumber(number).map(JSONValue.number)
    case .string(SeedReader.uniqueID): ExactForm.json(.string(SeedReader.uniqueID))
    case .string(let text): .string(text)
    case .date(let date): json(date)
    case .binary(let data): .string(data.base64EncodedString())
    case .uuid(let uuid): .string(uuid.uuidString)
    case .uri(let uri): .string(uri.absoluteString)
    case .composite(let values): json(values)
    case .objectID, .list: nil
    }
  }

  private func json(_ number: Double) -> JSONValue? {
    if type == .float, number.isFinite {
      // The short 32-bit form, if reading it as 64 bits yields the same value.
      let short = Float(number).description
      if let read = Double(short), Double(Float(read)) == number {
        return .number(JSONNumber(checked: short))
      }
    }
    if let number = JSONNumber(number) { return .number(number) }
    return ExactForm.json(number)
  }

  private func json(_ date: Date) -> JSONValue? {
    guard let text = ISO8601Date.text(date), ISO8601Date.parse(text) == date else {
      return ExactForm.json(date.timeIntervalSinceReferenceDate)
    }
    // Strings in a format of the model may omit a part of the date.
    return dates?.areISO8601 == false ? ExactForm.json(.string(text)) : .string(text)
  }

  private func json(_ values: [String: PropertyValue]) -> JSONValue? {
    var members: [JSONObject.Element] = []
    for part in parts {
      guard let value = values[part.name] else { continue }
      guard let json = part.json(value) else { return nil }
      members.append((part.name, json))
    }
    return members.count == values.count ? .object(JSONObject(distinct: members)) : nil
  }
}

extension JSONNode {
  /// Returns the part that a path leads to, or the innermost part on the way if it is missing.
  fileprivate func part(at steps: [JSONShape.Misfit.Step]) -> JSONNode {
    var part = self
    for step in steps {
      let next: JSONNode? =
        switch step {
        case .key(let key): part.members?.last { $0.key == key }?.value
        case .position(let position): part.elements?.dropFirst(position).first
        }
      guard let next else { break }
      part = next
    }
    return part
  }
}

/// The forms of document values that can be stored without conversion.
enum PlainForm {
  /// Numbers and Booleans. Hooks receive the document's value.
  case number
  case text
  /// Strings and numbers that represent a date. Hooks receive the date in a uniform format.
  case date

  init?(_ type: AttributeType) {
    switch type {
    case .string: self = .text
    case .date: self = .date
    case _ where FieldKind(type).form.isNumeric: self = .number
    default: return nil
    }
  }
}

/// Rules for reading dates and numbers, in addition to the attributes' own annotations.
struct TextRules: Hashable {
  /// The format of date attributes without a `DateFormat`, or `nil` for ISO 8601.
  var dateFormat: String?
  /// The time zone of dates without one.
  var timeZone = TimeZone.gmt
  /// Whether ISO 8601 dates can also be numbers, as in ``UnixTime``.
  var acceptsNumbers = false
  /// The number format in strings for attributes without a `NumberFormat`. If `nil`, strings are
  /// not accepted as numbers.
  var numberFormat: JSONNumberFormat?
  /// The conversions between JSON types.
  var conversions: ImportConversions = []
}

/// The form `{"$value": …}`, for values that the plain form of their attribute cannot represent.
///
/// | attribute | `$value` |
/// |---|---|
/// | string | the exact string, including `<uniqueID>` |
/// | date | ISO 8601 regardless of the attribute's format, or seconds since 2001 as a double |
/// | float, double | `"Infinity"` or `"-Infinity"`, allowed in parts of composites; or a number |
enum ExactForm {
  static let key = "$value"
  private static let infinities = ["Infinity": Double.infinity, "-Infinity": -.infinity]

  /// Returns the content of the form, or `nil` for any other value.
  static func content(of node: JSONNode) -> JSONNode? {
    guard node.kind == .object, node.count == 1, let member = node.members?.first else {
      return nil
    }
    return member.key == key ? member.value : nil
  }

  /// Returns the value of the form's content, or `nil` if the type doesn't accept it.
  static func value(_ content: JSONNode, for type: AttributeType) -> PropertyValue? {
    switch type {
    case .string: content.string.map(PropertyValue.string)
    case .date:
      (content.string.flatMap(ISO8601Date.parse)
        ?? double(content).map(Date.init(timeIntervalSinceReferenceDate:))).map(PropertyValue.date)
    case _ where FieldKind(type).form == .real: double(content).map(PropertyValue.double)
    default: nil
    }
  }

  private static func double(_ content: JSONNode) -> Double? {
    content.number?.double ?? content.string.flatMap { infinities[$0] }
  }

  /// Returns the form with the given content.
  static func json(_ content: JSONValue) -> JSONValue {
    .object(JSONObject(distinct: [(key, content)]))
  }

  /// Returns the form of a possibly infinite number, or `nil` for NaN.
  static func json(_ number: Double) -> JSONValue? {
    if let number = JSONNumber(number) { return json(.number(number)) }
    return infinities.first { $0.value == number }.map { json(.string($0.key)) }
  }
}
