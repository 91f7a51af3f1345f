internal import ArborModel

/// Index features that Apple's format doesn't support, stored as entries in the entity's user info.
///
/// ```xml
/// <fetchIndex name="words"><fetchIndexElement property="body" type="Binary"/></fetchIndex>
/// <userInfo><entry key="arbor.index.words" value="text"/></userInfo>
/// ```
///
/// The value is `text` for a full-text index, `unique` for a unique index, or both, separated by a
/// space. Xcode preserves such entries. Core Data ignores them and uses an ordinary index. A folded
/// column needs no entry, because it is the expression `canonical:(attribute)`.
enum ModelXMLIndexMarks {
  static let prefix = "arbor.index."
  static let textMark = "text"
  static let uniqueMark = "unique"

  /// Returns the user info entries for an entity's indexes.
  static func entries(of indexes: [FetchIndexDescription]) -> [String: String] {
    var entries: [String: String] = [:]
    for index in indexes {
      var marks: [String] = []
      if index.elements.contains(where: { $0.kind == .text }) { marks.append(textMark) }
      if index.isUnique { marks.append(uniqueMark) }
      if !marks.isEmpty { entries[prefix + index.name] = marks.joined(separator: " ") }
    }
    return entries
  }

  /// Returns the expression that represents a folded column.
  static func expression(ofFolded property: String) -> String { "canonical:(\(property))" }

  /// Returns the property of a folded column, or `nil` if the expression doesn't represent one.
  static func foldedProperty(ofExpression text: String) -> String? {
    guard text.hasPrefix("canonical:(") else { return nil }
    return FetchIndexDescription.Element(text, isExpression: true).foldedProperty
  }
}

extension ModelXMLReader {
  /// Applies the index marks in an entity's user info to its indexes, and removes the marks from
  /// the user info.
  mutating func applyIndexMarks(to entity: inout EntityDescription, at node: ModelXMLNode) {
    guard entity.userInfo.keys.contains(where: { $0.hasPrefix(ModelXMLIndexMarks.prefix) }) else {
      return
    }
    let positions = Dictionary(
      entity.fetchIndexes.enumerated().map { ($1.name, $0) },
      uniquingKeysWith: { first, _ in first })
    for (key, value) in entity.userInfo.sorted(by: { $0.key < $1.key })
    where key.hasPrefix(ModelXMLIndexMarks.prefix) {
      let name = String(key.dropFirst(ModelXMLIndexMarks.prefix.count))
      guard let position = positions[name] else {
        report(
          node, as: .warning, entity: entity.name,
          "The user info of \(entity.name) has \(key), but there is no index \(name).")
        continue
      }
      entity.userInfo[key] = nil
      for mark in value.split(separator: " ") {
        switch mark {
        case ModelXMLIndexMarks.uniqueMark: entity.fetchIndexes[position].isUnique = true
        case ModelXMLIndexMarks.textMark:
          for element in entity.fetchIndexes[position].elements.indices {
            entity.fetchIndexes[position].elements[element].kind = .text
          }
        default:
          report(
            node, entity: entity.name, property: name,
            "The user info of \(entity.name) has \(key) “\(value)”. Use “text”, “unique” or both.")
        }
      }
    }
  }
}
