package import ArborModel

/// Which changes of a model opening cannot follow, told from the models alone.
extension MigrationObstacle {
  private typealias Change = ModelDifference.Change

  /// The changes that stand in the way.
  ///
  /// - Parameters:
  ///   - names: What may be dropped; nil for everything.
  ///   - list: What such names are given in.
  ///   - passes: Whether the store is copied and passes over its objects are made.
  ///   - checksLinks: Whether present links are looked at, so that rules for what they lead to do
  ///     not stand in the way by themselves.
  package static func obstacles(
    in difference: ModelDifference, dropping names: Set<String>?,
    listedBy list: String = "options.migration = .automatic(dropping:)", passes: Bool = false,
    checksLinks: Bool = false
  ) -> [MigrationObstacle] {
    difference.storedChanges.compactMap { change in
      if checksLinks, change.limitsDestinations, change.loss == nil { return nil }
      let isNamed = change.loss.map { names?.contains($0.name) ?? true } ?? false
      guard let reason = reason(change, isNamed: isNamed, passes, list) else { return nil }
      return MigrationObstacle(
        entity: change.entity, property: change.property, message: "\(change.summary); \(reason).")
    }
  }

  /// Whether what a change concerns lies otherwise in a store of the newer model, so that it can be
  /// brought there by a pass or by code only.
  static func isLaidOutAnew(_ change: ModelDifference.Change) -> Bool {
    reason(change, isNamed: true, false, "") != nil
  }

  private static let otherwise = "leave it as it was, or let a MigrationStep convert it"

  private static func reason(
    _ change: Change, isNamed: Bool, _ passes: Bool, _ list: String
  ) -> String? {
    // Whether it has objects is seen in the store.
    if case .entity(.becameAbstract) = change.kind { return nil }
    let isMovable = isMovable(change)
    guard !(isMovable && passes) else {
      return change.loss.flatMap { isNamed ? nil : naming($0, list) }
    }
    if let reason = unsupported(change) {
      return isMovable ? "\(reason), \(inPlace)" : "\(reason); \(otherwise)"
    }
    switch change.effort {
    case .code:
      guard let loss = change.loss, isDroppable(change) else {
        return "no conversion is known; \(otherwise)"
      }
      return isNamed
        ? nil : "no conversion is known; \(naming(loss, list)) and to start anew, or \(otherwise)"
    case .pass where !isDecidedLater(change):
      return "that takes a pass over the objects, \(inPlace)"
    default: return change.loss.flatMap { isNamed ? nil : naming($0, list) }
    }
  }

  private static func naming(_ loss: ModelDifference.Loss, _ list: String) -> String {
    "name \"\(loss.name)\" in \(list) to let that go"
  }

  private static let inPlace =
    "which .lightweightOnly does not make; let options.migration be .automatic"

  /// Whether a pass over the objects brings along what the change concerns, without code.
  private static func isMovable(_ change: Change) -> Bool {
    switch change.kind {
    case .attribute(.externalStorageChanged): true
    case .relationship(.replacesAttribute): false
    case .relationship: unsupported(change) != nil || change.effort >= .pass
    case .attribute: change.effort == .pass
    case .entity: unsupported(change) != nil
    default: false
    }
  }

  /// Whether what the change loses may be given up instead of converted.
  private static func isDroppable(_ change: Change) -> Bool {
    switch change.kind {
    case .attribute(.typeChanged), .attribute(.replacesRelationship),
      .relationship(.replacesAttribute):
      true
    default: false
    }
  }

  /// Whether it depends on the databases or the objects if there is a pass to make at all.
  private static func isDecidedLater(_ change: Change) -> Bool {
    switch change.kind {
    case .relationship(.added), .attribute(.added), .attribute(.spread), .attribute(.inherited):
      true
    default: false
    }
  }

  private static func unsupported(_ change: Change) -> String? {
    switch (change.kind, change.rule) {
    case (.composite(.added), _), (.composite(.removed), _): nil
    case (.composite, _): "values of composite types are not converted"
    case (.relationship(.becameTransient), _), (.relationship(.becameStored), _):
      "links are kept for both sides or for none"
    case (.attribute(.externalStorageChanged), _): "large values stay where they are"
    case (_, .destination?), (_, .noLongerKind?):
      "links may lead to objects that are no longer allowed there"
    default: nil
    }
  }
}

extension ModelDifference.Change {
  /// Whether present links may lead to objects that the newer model does not allow there.
  fileprivate var limitsDestinations: Bool {
    switch rule {
    case .destination, .noLongerKind: true
    default: false
    }
  }
}
