internal import ArborFoundation

/// A value is encoded as a container with one key, its kind: `{"string": "Ada"}`, `{"null": true}`.
extension PropertyValue: Codable {
  private enum Kind: String, CodingKey {
    case null, boolean, integer, double, decimal, string, date, binary, uuid, uri, objectID, list
    case composite
  }

  /// Decodes a value from a container with one key.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Kind.self)
    guard let kind = container.allKeys.first, container.allKeys.count == 1 else {
      throw DecodingError.dataCorrupted(
        .init(
          codingPath: decoder.codingPath,
          debugDescription: "A value must have exactly one key, its kind."))
    }
    self =
      switch kind {
      case .null: .null
      case .boolean: .boolean(try container.decode(Bool.self, forKey: kind))
      case .integer: .integer(try container.decode(Int64.self, forKey: kind))
      case .double: .double(try container.decode(Double.self, forKey: kind))
      case .decimal: .decimal(try container.decode(Decimal.self, forKey: kind))
      case .string: .string(try container.decode(String.self, forKey: kind))
      case .date: .date(try container.decode(Date.self, forKey: kind))
      case .binary: .binary(try container.decode(Data.self, forKey: kind))
      case .uuid: .uuid(try container.decode(UUID.self, forKey: kind))
      case .uri: .uri(try container.decode(URL.self, forKey: kind))
      case .objectID: .objectID(try container.decode(ObjectID.self, forKey: kind))
      case .list: .list(try container.decode([PropertyValue].self, forKey: kind))
      case .composite: .composite(try container.decode([String: PropertyValue].self, forKey: kind))
      }
  }

  /// Encodes the value into a container with one key.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Kind.self)
    switch self {
    case .null: try container.encode(true, forKey: .null)
    case .boolean(let flag): try container.encode(flag, forKey: .boolean)
    case .integer(let number): try container.encode(number, forKey: .integer)
    case .double(let number): try container.encode(number, forKey: .double)
    case .decimal(let number): try container.encode(number, forKey: .decimal)
    case .string(let text): try container.encode(text, forKey: .string)
    case .date(let date): try container.encode(date, forKey: .date)
    case .binary(let data): try container.encode(data, forKey: .binary)
    case .uuid(let uuid): try container.encode(uuid, forKey: .uuid)
    case .uri(let url): try container.encode(url, forKey: .uri)
    case .objectID(let id): try container.encode(id, forKey: .objectID)
    case .list(let values): try container.encode(values, forKey: .list)
    case .composite(let parts): try container.encode(parts, forKey: .composite)
    }
  }
}
