internal import ArborJSON
internal import ArborModel
internal import Foundation

/// Values in a self-describing JSON form: JSON's own types as they are, any other type as an object
/// whose only key is the type.
enum ValueJSON {
  /// The maximum length of a string in a table row, in characters.
  static let maximumLengthInTable = 240
  /// The maximum length of a string in the view of one object, in characters.
  static let maximumLengthInObject = 1 << 18
  /// The integers that JavaScript represents exactly.
  private static let exactInPage = Int64(-1 << 53)...Int64(1 << 53)

  /// Returns the JSON for a value. Truncates text to `maximumLength` characters.
  static func json(
    _ value: PropertyValue, maximumLength: Int = maximumLengthInObject
  ) -> JSONValue {
    switch value {
    case .null: .null
    case .boolean(let flag): .bool(flag)
    case .integer(let number):
      exactInPage.contains(number) ? .number(JSONNumber(number)) : ["number": .string("\(number)")]
    case .double(let number):
      JSONNumber(number).map(JSONValue.number) ?? ["number": .string("\(number)")]
    case .decimal(let number): ["number": .string("\(number)")]
    case .string(let text): json(text, maximumLength: maximumLength)
    case .date(let date): ["date": .string(ISO8601Date.milliseconds(date))]
    case .binary(let data): binary(count: data.count, head: data.prefix(64))
    case .uuid(let uuid): ["uuid": .string(uuid.uuidString)]
    case .uri(let url): ["uri": .string(url.absoluteString)]
    case .objectID(let id): ["object": .string(name(id))]
    case .list(let values): ["list": .array(values.map { json($0, maximumLength: maximumLength) })]
    case .composite(let parts):
      ["parts": object(parts.mapValues { json($0, maximumLength: maximumLength) })]
    }
  }

  /// Returns the description of the value of a JSON attribute: its canonical text, truncated to
  /// `maximumLength` characters.
  static func document(
    _ value: PropertyValue, maximumLength: Int = maximumLengthInObject
  ) -> JSONValue {
    guard !value.isNull, let json = value.json else { return .null }
    let text = String(decoding: json.canonicalBytes, as: UTF8.self)
    guard text.utf8.count > maximumLength, text.count > maximumLength else {
      return ["json": .string(text)]
    }
    return ["json": .string(String(text.prefix(maximumLength))), "length": JSONValue(text.count)]
  }

  private static func json(_ text: String, maximumLength: Int) -> JSONValue {
    // Most text is short: the number of bytes avoids counting characters.
    guard text.utf8.count > maximumLength, text.count > maximumLength else { return .string(text) }
    return ["text": .string(String(text.prefix(maximumLength))), "length": JSONValue(text.count)]
  }

  /// Returns the description of a binary value. Its bytes have to be requested separately.
  static func binary(count: Int, head: Data) -> JSONValue {
    ["binary": JSONValue(count), "kind": .string(BinaryKind(head).rawValue)]
  }

  /// Returns the name by which the page refers to an object, `Entity/number`.
  static func name(_ id: ObjectID) -> String { "\(id.entityName)/\(id.number)" }

  /// Returns an object with its members sorted by name.
  static func object(_ members: [String: JSONValue]) -> JSONValue {
    .object(JSONObject(distinct: members.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }))
  }
}

extension JSONValue {
  init(_ number: Int) { self = .number(JSONNumber(Int64(number))) }
}

/// The kind of a binary value, determined by its first bytes.
enum BinaryKind: String {
  case png, jpeg, gif, webp, text, bytes

  init(_ head: Data) {
    let bytes = Array(head)
    if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
      self = .png
    } else if bytes.starts(with: [0xFF, 0xD8, 0xFF]) {
      self = .jpeg
    } else if bytes.starts(with: Array("GIF8".utf8)) {
      self = .gif
    } else if bytes.starts(with: Array("RIFF".utf8)), bytes.dropFirst(8).starts(with: "WEBP".utf8) {
      self = .webp
    } else {
      self = Self.isText(bytes) ? .text : .bytes
    }
  }

  /// Returns whether the bytes are printable UTF-8. The last character may be truncated.
  private static func isText(_ bytes: [UInt8]) -> Bool {
    guard !bytes.isEmpty, bytes.allSatisfy({ $0 >= 32 || [9, 10, 13].contains($0) }) else {
      return false
    }
    return (0...min(3, bytes.count - 1)).contains { cut in
      String(validating: bytes.dropLast(cut), as: UTF8.self) != nil
    }
  }
}
