import ArborJSON
import ArborModel
import Foundation

/// Attributes as an export writes them: in the form that ``AttributeReader`` reads as the very same
/// value.
extension ExchangeAttribute {
  /// The JSON of a value; nil where JSON has none, as for a number that is none.
  func json(_ value: Value, _ schema: ExchangeSchema) -> JSONValue? {
    switch value {
    case .null: .null
    case .boolean(let bool): .bool(bool)
    case .integer(let number): .number(JSONNumber(number))
    case .double(let number): json(number)
    case .decimal(let number): JSONNumber(number).map(JSONValue.number)
    case .string(ExchangeValueReader.uniqueID):
      ExactForm.json(.string(ExchangeValueReader.uniqueID))
    case .string(let text): .string(text)
    case .date(let date): json(date)
    case .binary(let data): .string(data.base64EncodedString())
    case .uuid(let uuid): .string(uuid.uuidString)
    case .uri(let uri): .string(uri.absoluteString)
    case .composite(let values): json(values, schema)
    case .objectID, .list: nil
    }
  }

  private func json(_ number: Double) -> JSONValue? {
    if type == .float, number.isFinite {
      // The short form of 32 bits, where what is read from it by way of 64 is the same.
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
    // Texts in a format of the model's may leave out a part of the date.
    return dates.areISO8601 ? .string(text) : ExactForm.json(.string(text))
  }

  private func json(_ values: [String: Value], _ schema: ExchangeSchema) -> JSONValue? {
    guard case .composite(let name) = type else { return nil }
    var members: [JSONObject.Element] = []
    for part in schema.parts(ofComposite: name) {
      guard let value = values[part.name] else { continue }
      guard let json = part.json(value, schema) else { return nil }
      members.append((part.name, json))
    }
    return members.count == values.count ? .object(JSONObject(distinct: members)) : nil
  }
}
