internal import ArborModel
internal import Foundation

/// Default values and bounds.
///
/// An unsuitable default value is only a warning, because Core Data's compiler accepts it: it is
/// converted to the attribute's type or ignored. Bounds are deliberate rules, so a bound that
/// cannot be read is a problem.
extension ModelXMLReader {
  mutating func readValues(
    _ node: ModelXMLNode, into attribute: inout AttributeDescription, of entity: String?
  ) {
    if attribute.type == .date {
      attribute.minimum = date("minDateTimeInterval", of: node, entity: entity)
      attribute.maximum = date("maxDateTimeInterval", of: node, entity: entity)
      attribute.defaultValue = date(
        "defaultDateTimeInterval", of: node, entity: entity, isDefault: true)
    } else {
      let boundType = attribute.type.boundType
      attribute.minimum = bound("minValueString", of: node, as: boundType, entity: entity)
      attribute.maximum = bound("maxValueString", of: node, as: boundType, entity: entity)
      attribute.defaultValue = defaultValue(of: node, as: attribute.type, entity: entity)
    }
    if attribute.hasDefaultOutsideBounds {
      reportDefault(
        node, entity, "is outside the bounds and was ignored. Correct the default or the bounds.")
      attribute.defaultValue = .null
    }
  }

  private mutating func bound(
    _ key: String, of node: ModelXMLNode, as type: AttributeType?, entity: String?
  ) -> PropertyValue {
    guard let text = node[key] else { return .null }
    guard let type else {
      report(
        node, as: .warning, of: entity,
        that: "has \(key), which its type doesn't support. It has no effect; remove it.")
      return .null
    }
    if let value = type.kind.value(ofXML: text) { return value }
    report(
      node, of: entity,
      that: "has \(key) “\(text)”, which doesn't fit its type. Expected \(type.expectation).")
    return .null
  }

  private mutating func defaultValue(
    of node: ModelXMLNode, as type: AttributeType, entity: String?
  ) -> PropertyValue {
    guard let text = node["defaultValueString"] else { return .null }
    guard type.kind.hasXMLDefault else {
      report(
        node, as: .warning, of: entity,
        that: "has a default, which its type doesn't support. It has no effect; remove it.")
      return .null
    }
    if let value = type.kind.value(ofXML: text) { return value }
    if let value = type.kind.value(ofFormerXML: text) {
      reportDefault(
        node, entity, "is read as \(type.xmlText(of: value) ?? ""). Expected \(type.expectation).")
      return value
    }
    reportDefault(
      node, entity,
      "doesn't fit its type and was ignored. Expected \(type.expectation).")
    return .null
  }

  /// Reports a default value that is converted or ignored.
  private mutating func reportDefault(_ node: ModelXMLNode, _ entity: String?, _ what: String) {
    let text = node["defaultValueString"] ?? node["defaultDateTimeInterval"] ?? ""
    report(node, as: .warning, of: entity, that: "has the default “\(text)”, which \(what)")
  }

  /// The number of seconds from 1970 to 2001. Values of at least this number were most likely
  /// counted from 1970: as such, they denote dates after 2000, whereas counted from 2001, they
  /// would denote dates after 2031.
  private static let earliestUnixTime = 978_307_200.0

  private mutating func date(
    _ key: String, of node: ModelXMLNode, entity: String?, isDefault: Bool = false
  ) -> PropertyValue {
    guard let text = node[key] else { return .null }
    guard let seconds = Double(text), seconds.isFinite else {
      let advice = "Expected seconds since 2001-01-01 UTC."
      if isDefault {
        reportDefault(node, entity, "doesn't fit its type and was ignored. \(advice)")
      } else {
        report(node, of: entity, that: "has \(key) “\(text)”. \(advice)")
      }
      return .null
    }
    if seconds >= Self.earliestUnixTime {
      report(
        node, as: .warning, of: entity,
        that: "has \(key) \(text), which looks like seconds since 1970. Models count from "
          + "2001-01-01 UTC; subtract 978307200.")
    }
    return .date(Date(timeIntervalSinceReferenceDate: seconds))
  }
}
