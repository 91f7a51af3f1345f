internal import ArborModel

/// A part of the path from a store's version to the newest: a step with code, or a model change
/// without code.
struct MigrationHop: Sendable {
  let source: ManagedObjectModel
  /// The intermediate versions, oldest first, which resolve properties renamed more than once.
  var versions: [ManagedObjectModel] = []
  let target: ManagedObjectModel
  var step: MigrationStep?
}

/// The path from a store's version to the one it is opened with. The path is direct unless steps
/// require intermediate versions.
///
/// A version may be listed twice if the model was changed back. A store of that version is treated
/// as the last occurrence.
struct MigrationChain: Sendable {
  let hops: [MigrationHop]
  let target: ManagedObjectModel

  /// Whether the path includes steps with code.
  var takesSteps: Bool { hops.count > 1 || hops.first?.step != nil }

  /// A digest of the path's versions and of which of its parts have code.
  var digest: UInt128 {
    hops.reduce(1) { digest, hop in
      (([hop.source] + hop.versions + [hop.target]).map(\.fingerprint.bits)
        + [hop.step == nil ? 0 : 1])
        .reduce(digest) { ($0 &* 0x1_0000_0000_01b3) ^ $1 }
    }
  }

  /// Finds the path from a store's version to the target.
  ///
  /// - Parameter options: ``StoreOptions/migrationSteps`` are steps to include;
  ///   ``StoreOptions/modelVersions`` or, if that is empty, the steps themselves define the order
  ///   of versions.
  /// - Throws: ``ArborError`` `invalidArgument` if steps contradict each other or refer to a
  ///   version that doesn't exist, `modelMismatch` if there are steps and the store's version is
  ///   unknown.
  init(
    from stored: ManagedObjectModel, to target: ManagedObjectModel, _ options: StoreOptions
  ) throws(ArborError) {
    self.target = target
    let (versions, siblings) = (options.modelVersions, options.siblingVersions)
    var edges: [Edge] = []
    for step in options.migrationSteps {
      let edge = try Edge(
        step, among: versions + siblings + [target, stored], isListed: !versions.isEmpty)
      if edges.contains(where: { $0.from == edge.from && $0.to == edge.to }) {
        throw ArborError(
          .invalidArgument,
          "Two migration steps lead from version \(step.from) to \(step.to). Combine them.")
      }
      edges.append(edge)
    }
    var order = versions
    if versions.isEmpty {
      order = Self.agree(edges, with: siblings) ? siblings : try Self.order(of: edges)
    }
    // Identical consecutive versions are redundant.
    order = order.reduce(into: []) { models, model in
      if models.last?.fingerprint != model.fingerprint { models.append(model) }
    }
    try Self.check(edges, order)
    if let end = order.lastIndex(where: { $0.fingerprint == target.fingerprint }) {
      order.removeSubrange(end...)
    }
    order.append(target)
    guard let start = order.lastIndex(where: { $0.fingerprint == stored.fingerprint }) else {
      let isSibling = siblings.contains { $0.fingerprint == stored.fingerprint }
      guard edges.isEmpty || isSibling else {
        throw ArborError(
          .modelMismatch,
          "The store has version \(stored.versionName), and no migration steps lead from there to "
            + "version \(target.versionName). Add the store's model to options.modelVersions, "
            + "oldest version first, or add a step that starts from that version.")
      }
      hops = [MigrationHop(source: stored, target: target)]
      return
    }
    order[start] = stored
    hops = Self.hops(order, start, edges)
  }

  private static func check(_ edges: [Edge], _ order: [ManagedObjectModel]) throws(ArborError) {
    for edge in edges where edge.leadsBack(in: order) {
      throw ArborError(
        .invalidArgument,
        "The migration step from version \(edge.step.from) to \(edge.step.to) leads backward. List "
          + "options.modelVersions with the oldest version first.")
    }
  }

  /// Returns whether the steps are consistent with the versions being ordered by name.
  private static func agree(_ edges: [Edge], with siblings: [ManagedObjectModel]) -> Bool {
    let names = Set(siblings.map(\.fingerprint))
    return edges.allSatisfy {
      names.contains($0.from) && names.contains($0.to) && !$0.leadsBack(in: siblings)
    }
  }

  private static func hops(
    _ order: [ManagedObjectModel], _ start: Int, _ edges: [Edge]
  ) -> [MigrationHop] {
    var (hops, position) = ([MigrationHop](), start)
    while position < order.count - 1 {
      let next = order.indices.dropFirst(position).lazy
        .compactMap { begin in longest(edges, from: begin, in: order).map { (begin, $0) } }.first
      let begin = next?.0 ?? order.count - 1
      if begin > position {
        hops.append(
          MigrationHop(
            source: order[position], versions: Array(order[(position + 1)..<begin]),
            target: order[begin]))
      }
      guard let (end, step) = next?.1 else { break }
      hops.append(MigrationHop(source: order[begin], target: order[end], step: step))
      position = end
    }
    return hops
  }

  /// Returns the step that starts at a version and has the most distant target version, and the
  /// position of that target. Returns `nil` if no step starts there.
  private static func longest(
    _ edges: [Edge], from begin: Int, in order: [ManagedObjectModel]
  ) -> (end: Int, step: MigrationStep)? {
    var farthest: (end: Int, step: MigrationStep)?
    for edge in edges where edge.from == order[begin].fingerprint {
      let end = order[(begin + 1)...].firstIndex { $0.fingerprint == edge.to }
      if let end, end > farthest?.end ?? begin { farthest = (end, edge.step) }
    }
    return farthest
  }

  /// A step with the versions at its ends.
  private struct Edge {
    let step: MigrationStep
    let models: [ManagedObjectModel]
    var from: ModelFingerprint { models[0].fingerprint }
    var to: ModelFingerprint { models[1].fingerprint }

    func leadsBack(in order: [ManagedObjectModel]) -> Bool {
      guard let begin = order.firstIndex(where: { $0.fingerprint == from }),
        let end = order.lastIndex(where: { $0.fingerprint == to })
      else { return false }
      return end < begin
    }

    /// - Parameter isListed: Whether models passed to the step must be among the known versions,
    ///   too.
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
          "The migration step from version \(step.from) to \(step.to) refers to the unknown "
            + "version \(version). Add its model to options.modelVersions, or pass the model to "
            + "the step.")
      }
      self.step = step
      models = [try model(step.from), try model(step.to)]
      guard from != to else {
        throw ArborError(
          .invalidArgument,
          "The migration step from version \(step.from) to \(step.to) would never run, because "
            + "both versions describe the same store. Give an entity of the newer version a "
            + "different versionHashModifier.")
      }
    }
  }

  /// Returns the versions referenced by steps, in topological order.
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
          "The migration steps form a cycle through version \(rest[0].versionName). Remove the "
            + "step that leads backward.")
      }
      order.append(rest.remove(at: index))
    }
    return order
  }
}
