/// Limits on the expanded size of a model.
///
/// A short file can expand to a large model through inheritance and nested composite types. Real
/// models stay far below these limits.
extension ModelRules {
  /// The maximum length of a chain of parents.
  static let maximumAncestors = 100
  /// The maximum total number of properties, with inherited ones counted for each entity.
  static let maximumProperties = 1_000_000
  /// The maximum nesting depth of composite types.
  static let maximumNesting = 32
  /// The maximum number of parts of a composite type, including nested ones.
  static let maximumParts = Int(UInt16.max)

  /// Checks the total number of properties. Returns `false` if it is too large to check anything
  /// else.
  mutating func checkSize() -> Bool {
    let own = model.entities.map {
      $0.attributes.count + $0.relationships.count + $0.fetchedProperties.count
    }
    var total = 0
    for lineage in lineages {
      for ancestor in lineage { total += own[ancestor] }
    }
    guard total > Self.maximumProperties else { return true }
    report(
      .model,
      "The model has \(total) properties, counting inherited ones in each entity, which exceeds "
        + "the limit of \(Self.maximumProperties). Split the model.")
    return false
  }

  /// Checks that each composite type can be expanded: none contains itself, is nested too deeply or
  /// has too many parts.
  ///
  /// - Complexity: Linear in the number of parts.
  mutating func checkCompositeSizes() {
    let indices = Dictionary(
      model.composites.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
    let inner = model.composites.map { composite in
      composite.attributes.compactMap { part -> Int? in
        guard case .composite(let name) = part.type else { return nil }
        return indices[name]
      }
    }
    var outer = [[Int]](repeating: [], count: inner.count)
    for (index, parts) in inner.enumerated() {
      for part in parts { outer[part].append(index) }
    }
    let finite = Self.peeled(Array(inner.indices), inner, outer)
    checkMeasures(of: finite, inner)

    // The remaining types contain themselves, or a type that does. The latter are peeled off in the
    // opposite direction, starting with types that no other type contains.
    let endless = Set(inner.indices).subtracting(finite)
    let above = Self.peeled(Array(endless), outer, inner)
    for index in endless.subtracting(above).sorted() {
      report(
        .composite(index),
        "Composite type \(model.composites[index].name) contains itself. Remove the part that "
          + "leads back to it.")
    }
  }

  /// Reports the types that are nested too deeply or have too many parts. Types that exceed a limit
  /// only because they contain one of these are not reported.
  private mutating func checkMeasures(of order: [Int], _ inner: [[Int]]) {
    var measures = [(count: Int, depth: Int)](repeating: (0, 0), count: inner.count)
    for index in order {
      var count = model.composites[index].attributes.count
      var depth = 1
      var isConsequence = false
      for part in inner[index] {
        count = min(count + measures[part].count, Self.maximumParts + 1)
        depth = max(depth, measures[part].depth + 1)
        isConsequence =
          isConsequence || measures[part].count > Self.maximumParts
          || measures[part].depth > Self.maximumNesting
      }
      measures[index] = (count, depth)
      guard !isConsequence, count > Self.maximumParts || depth > Self.maximumNesting else {
        continue
      }
      report(
        .composite(index),
        "Composite type \(model.composites[index].name) is too large: nested parts included, the "
          + "limits are \(Self.maximumNesting) levels and \(Self.maximumParts) parts. Split it.")
    }
  }

  /// Returns the nodes that don't lead to a cycle, in dependency order (Kahn's topological sort).
  private static func peeled(_ nodes: [Int], _ edges: [[Int]], _ reverse: [[Int]]) -> [Int] {
    var open = [Int](repeating: -1, count: edges.count)
    for node in nodes { open[node] = 0 }
    for node in nodes { open[node] = edges[node].count { open[$0] >= 0 } }
    var order = nodes.filter { open[$0] == 0 }
    var next = 0
    while next < order.count {
      for node in reverse[order[next]] where open[node] > 0 {
        open[node] -= 1
        if open[node] == 0 { order.append(node) }
      }
      next += 1
    }
    return order
  }
}
