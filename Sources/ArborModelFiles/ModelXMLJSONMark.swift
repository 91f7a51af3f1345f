internal import ArborJSON
internal import ArborModel

/// The mark of JSON attributes, for which Apple's format has no type, as entries in the attribute's
/// user info.
///
/// ```xml
/// <attribute name="address" optional="YES" attributeType="Binary">
///     <userInfo><entry key="arbor.json" value="YES"/></userInfo>
/// </attribute>
/// ```
///
/// The mark is valid for binary and transformable attributes. Its value is `YES`, or the structure of the
/// values as JSON; see ``JSONShape/json``. `arbor.json.default` is the default
/// value as JSON. Xcode preserves such entries. Core Data ignores them and stores bytes.
enum ModelXMLJSONMark {
  static let key = "arbor.json"
  static let defaultKey = "arbor.json.default"

  /// Returns the user info of an attribute, including the entries that mark it.
  static func userInfo(of attribute: AttributeDescription) -> [String: String] {
    var notes = attribute.userInfo
    guard attribute.type == .json else { return notes }
    notes[key] =
      attribute.shape.map { String(decoding: $0.json.canonicalBytes, as: UTF8.self) } ?? "YES"
    if !attribute.defaultValue.isNull, let json = attribute.defaultValue.json {
      notes[defaultKey] = String(decoding: json.canonicalBytes, as: UTF8.self)
    }
    return notes
  }
}

extension ModelXMLReader {
  /// Makes a marked attribute a JSON attribute, and removes the mark from its user info.
  mutating func applyJSONMark(
    to attribute: inout AttributeDescription, _ node: ModelXMLNode, of entity: String?
  ) {
    guard let mark = attribute.userInfo[ModelXMLJSONMark.key] else { return }
    attribute.shape = JSONShape(text: mark)
    guard mark == "YES" || attribute.shape != nil else {
      return report(
        node, of: entity,
        that:
          "has the user info \(ModelXMLJSONMark.key) “\(mark)”. Use “YES” or the structure of the "
          + "JSON, or remove the entry.")
    }
    switch attribute.type {
    case .binary, .transformable: attribute.type = .json
    default:
      return report(
        node, of: entity,
        that: "has the user info \(ModelXMLJSONMark.key), but is neither binary nor transformable. "
          + "Make it binary, or remove the entry.")
    }
    attribute.userInfo[ModelXMLJSONMark.key] = nil
    guard let text = attribute.userInfo.removeValue(forKey: ModelXMLJSONMark.defaultKey) else {
      return
    }
    guard let value = JSONKind.value(ofXML: text) else {
      return report(
        node, of: entity,
        that:
          "has the default “\(text)” in \(ModelXMLJSONMark.defaultKey), which is not valid JSON. "
          + "Correct it.")
    }
    attribute.defaultValue = value
  }
}
