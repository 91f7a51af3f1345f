internal import ArborModel

/// An attribute whose type was another one before the migration that is taken back.
struct RetypedAttribute {
  /// What the model calls it that is left.
  let source: String
  /// Its type in the model that comes back.
  let type: AttributeType
  /// What names it where its values may be dropped.
  let lossName: String
  /// Whether values that do not convert may be dropped. Leave to drop whatever was removed is none:
  /// they are there still.
  let isDropped: Bool

  /// The attributes of plain values whose types change. Those of which every value converts by
  /// itself are among them: what was not written since has values of the former type still, which
  /// the way forth did not convert.
  ///
  /// - Parameters:
  ///   - difference: From the model that is left to the one that comes back.
  ///   - names: What may be dropped; nil for everything that was removed.
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
