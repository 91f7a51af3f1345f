internal import ArborModel

/// One part of the way from a store's version to the newest: a step with code, or the versions
/// between two of them at once.
struct MigrationHop: Sendable {
  let source: ManagedObjectModel
  /// The versions that are passed without code, the oldest first.
  var versions: [ManagedObjectModel] = []
  var target: ManagedObjectModel
  var step: MigrationStep?
}

/// The way from a store's version to the one it is opened with.
///
/// A version may be listed twice, where the model came back to what it was: a store of it is taken
/// for one of the last occurrence, and what was renamed between the two finds its way through both.
struct MigrationChain: Sendable {
  let hops: [MigrationHop]
  let target: ManagedObjectModel

  /// What tells the way from another one: versions, and which of them take code.
  var digest: UInt128 {
    hops.reduce(1) { digest, hop in
      (([hop.source] + hop.versions + [hop.target]).map(\.fingerprint.bits)
        + [hop.step == nil ? 0 : 1])
        .reduce(digest) { ($0 &* 0x1_0000_0000_01b3) ^ $1 }
    }
  }

  /// Finds the way.
  ///
  /// - Parameters:
  ///   - versions: Known versions, the oldest first; empty: those of the steps, in their order.
  /// - Throws: ``ArborError`` `invalidArgument` for steps that contradict each other or name what
  ///   is not there, `modelMismatch` where the store's version is none of the known ones.
  init(
    from stored: ManagedObjectModel, to target: ManagedObjectModel, _ steps: [MigrationStep],
    _ versions: [ManagedObjectModel]
  ) throws(ArborError) {
    self.target = target
    var edges: [Edge] = []
    for step in steps {
      let edge = try Edge(step, among: versions + [target, stored], isListed: !versions.isEmpty)
      if edges.contains(where: { $0.from == edge.from && $0.to == edge.to }) {
        throw ArborError(
          .invalidArgument,
          "Two migration steps lead from version \(step.from) to \(step.to); make them one.")
      }
      edges.append(edge)
    }
    var order = versions.isEmpty ? try Self.order(of: edges) : versions
    // Nothing is renamed from a version to the same one.
    order = order.reduce(into: []) { models, model in
      if models.last?.fingerprint != model.fingerprint { models.append(model) }
    }
    try Self.check(edges, order)
    if let end = order.lastIndex(where: { $0.fingerprint == target.fingerprint }) {
      order.removeSubrange(end...)
    }
    order.append(target)
    guard let start = order.lastIndex(where: { $0.fingerprint == stored.fingerprint }) else {
      guard edges.isEmpty else {
        throw ArborError(
          .modelMismatch,
          "The store is of version \(stored.versionName), and no migration steps lead from there "
            + "to version \(target.versionName). Add its model to options.modelVersions, which "
            + "lists the versions from the oldest on, or add a step that begins with it.")
      }
      hops = [MigrationHop(source: stored, target: target)]
      return
    }
    order[start] = stored
    hops = try Self.hops(order, start, edges)
  }

  private static func check(_ edges: [Edge], _ order: [ManagedObjectModel]) throws(ArborError) {
    for edge in edges {
      guard let from = order.firstIndex(where: { $0.fingerprint == edge.from }),
        let to = order.lastIndex(where: { $0.fingerprint == edge.to }), to < from
      else { continue }
      throw ArborError(
        .invalidArgument,
        "The migration step from version \(edge.step.from) to \(edge.step.to) leads back: "
          + "options.modelVersions lists the versions from the oldest on.")
    }
  }

  private static func hops(
    _ order: [ManagedObjectModel], _ start: Int, _ edges: [Edge]
  ) throws(ArborError) -> [MigrationHop] {
    var (hops, position) = ([MigrationHop](), start)
    while position < order.count - 1 {
      var next: (position: Int, step: MigrationStep)?
      for edge in edges where edge.from == order[position].fingerprint {
        let end = order[(position + 1)...].firstIndex { $0.fingerprint == edge.to }
        guard let end, end > next?.position ?? position else { continue }
        next = (end, edge.step)
      }
      let source = order[position]
      if let next {
        hops.append(MigrationHop(source: source, target: order[next.position], step: next.step))
        position = next.position
      } else {
        position += 1
        if let last = hops.indices.last, hops[last].step == nil {
          hops[last].versions.append(hops[last].target)
          hops[last].target = order[position]
        } else {
          hops.append(MigrationHop(source: source, target: order[position]))
        }
      }
    }
    return hops
  }

  /// A step with the versions that it leads from and to.
  private struct Edge {
    let step: MigrationStep
    let models: [ManagedObjectModel]
    var from: ModelFingerprint { models[0].fingerprint }
    var to: ModelFingerprint { models[1].fingerprint }

    /// - Parameter isListed: Whether the known versions are all there are.
    init(
      _ step: MigrationStep, among known: [ManagedObjectModel], isListed: Bool
    ) throws(ArborError) {
      func model(_ version: MigrationVersion) throws(ArborError) -> ManagedObjectModel {
        if let model = version.model(among: known),
          !isListed || known.contains(where: { $0.fingerprint == model.fingerprint })
        {
          return model
        }
        throw ArborError(
          .invalidArgument,
          "The migration step from version \(step.from) to \(step.to) names the version "
            + "\(version), which does not exist; add its model to options.modelVersions, or give "
            + "the step the model.")
      }
      self.step = step
      models = [try model(step.from), try model(step.to)]
      guard from != to else {
        throw ArborError(
          .invalidArgument,
          "The migration step from version \(step.from) to \(step.to) would never run, since a "
            + "store of the one is a store of the other; give an entity of the newer one another "
            + "versionHashModifier.")
      }
    }
  }

  /// The versions that steps name, each behind those that lead to it.
  private static func order(of edges: [Edge]) throws(ArborError) -> [ManagedObjectModel] {
    var seen: Set<ModelFingerprint> = []
    let models = edges.flatMap(\.models).filter { seen.insert($0.fingerprint).inserted }
    var (order, rest) = ([ManagedObjectModel](), models)
    while !rest.isEmpty {
      let left = Set(rest.map(\.fingerprint))
      guard
        let index = rest.firstIndex(where: { model in
          !edges.contains { $0.to == model.fingerprint && left.contains($0.from) }
        })
      else {
        throw ArborError(
          .invalidArgument,
          "The migration steps lead in a circle by way of version \(rest[0].versionName); remove "
            + "the one that leads back.")
      }
      order.append(rest.remove(at: index))
    }
    return order
  }
}
