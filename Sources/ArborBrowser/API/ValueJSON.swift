internal import ArborJSON
internal import ArborModel
internal import Foundation

/// Values in a form from which the page can tell what they are: JSON's own kinds as such, every
/// other one as an object with a single key, the kind.
enum ValueJSON {
  /// How many characters of a text a row of a table has.
  static let longestInTable = 240
  /// How many characters of a text the view of one object has.
  static let longestAlone = 1 << 18
  /// The whole numbers that a page of a web browser can tell apart.
  private static let exactInPage = Int64(-1 << 53)...Int64(1 << 53)

  /// A value; texts are cut behind a number of characters.
  static func json(_ value: PropertyValue, longest: Int = longestAlone) -> JSONValue {
    switch value {
    case .null: .null
    case .boolean(let flag): .bool(flag)
    case .integer(let number):
      exactInPage.contains(number) ? .number(JSONNumber(number)) : ["number": .string("\(number)")]
    case .double(let number):
      JSONNumber(number).map(JSONValue.number) ?? ["number": .string("\(number)")]
    case .decimal(let number): ["number": .string("\(number)")]
    case .string(let text): json(text, longest: longest)
    case .date(let date): ["date": .string(ISO8601Date.milliseconds(date))]
    case .binary(let data): binary(count: data.count, head: data.prefix(64))
    case .uuid(let uuid): ["uuid": .string(uuid.uuidString)]
    case .uri(let url): ["uri": .string(url.absoluteString)]
    case .objectID(let id): ["object": .string(name(id))]
    case .list(let values): ["list": .array(values.map { json($0, longest: longest) })]
    case .composite(let parts): ["parts": object(parts.mapValues { json($0, longest: longest) })]
    }
  }

  private static func json(_ text: String, longest: Int) -> JSONValue {
    // Few texts are long: their bytes tell without counting characters.
    guard text.utf8.count > longest, text.count > longest else { return .string(text) }
    return ["text": .string(String(text.prefix(longest))), "length": JSONValue(text.count)]
  }

  /// What a binary is; its bytes are asked for by themselves.
  static func binary(count: Int, head: Data) -> JSONValue {
    ["binary": JSONValue(count), "kind": .string(BinaryKind(head).rawValue)]
  }

  /// `Entity/number`, by which the page names objects.
  static func name(_ id: ObjectID) -> String { "\(id.entityName)/\(id.number)" }

  /// An object with its members in the order of their names.
  static func object(_ members: [String: JSONValue]) -> JSONValue {
    .object(JSONObject(distinct: members.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }))
  }
}

extension JSONValue {
  init(_ number: Int) { self = .number(JSONNumber(Int64(number))) }
}

/// What a binary seems to be, by its first bytes.
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

  /// Whether the bytes are printable UTF-8, the last character of which may be cut.
  private static func isText(_ bytes: [UInt8]) -> Bool {
    guard !bytes.isEmpty, bytes.allSatisfy({ $0 >= 32 || [9, 10, 13].contains($0) }) else {
      return false
    }
    return (0...min(3, bytes.count - 1)).contains { cut in
      String(validating: bytes.dropLast(cut), as: UTF8.self) != nil
    }
  }
}
