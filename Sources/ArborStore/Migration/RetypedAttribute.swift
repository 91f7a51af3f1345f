internal import ArborModel

/// An attribute whose type was changed by a migration that is being reverted.
struct RetypedAttribute {
  /// The name in the newer model.
  let source: String
  /// The type in the former model.
  let type: AttributeType
  /// The name that permits dropping its values.
  let lossName: String
  /// Whether values that cannot be converted may be dropped. Permission to drop everything removed
  /// does not include them, since they still exist.
  let isDropped: Bool

  /// Returns the attributes of plain values whose types change. They include those whose values can
  /// all be converted: records that were not written since still have values of the former type,
  /// which the migration did not convert.
  ///
  /// - Parameters:
  ///   - difference: The difference from the newer to the former model.
  ///   - names: The names of the data that may be dropped, or `nil` for everything removed.
  static func all(
    in difference: ModelDifference, dropping names: Set<String>?
  ) -> [ModelDifference.Subject: RetypedAttribute] {
    difference.storedChanges.reduce(into: [:]) { retyped, change in
      guard case .attribute(.typeChanged(let left, let back, let conversion)) = change.kind,
        conversion != .identity, left.kind.isPlain, back.kind.isPlain, let subject = change.subject,
        let source = change.source, let property = source.property,
        !difference.new.isDerived(subject)
      else { return }
      retyped[subject] = RetypedAttribute(
        source: property, type: back, lossName: source.description,
        isDropped: names?.contains(source.description) ?? false)
    }
  }
}

extension ManagedObjectModel {
  fileprivate func isDerived(_ subject: ModelDifference.Subject) -> Bool {
    entity(named: subject.entity)?.attributes.contains {
      $0.name == subject.property && $0.derivation != nil
    } ?? false
  }
}
