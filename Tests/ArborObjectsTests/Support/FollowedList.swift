import ArborModel
import ArborObjects

/// Results that are compared with a fetch after every step of a random history.
protocol FollowedList: AnyObject {
  /// Throws a ``Contradiction`` if the results differ from a fetch, if the difference doesn't lead
  /// to them, or if values that were kept have changed.
  func compare() throws
  /// Returns new results of the same request.
  func renewed() throws -> any FollowedList
}

/// A difference between a program's results and what they must be.
struct Contradiction: Error, CustomStringConvertible {
  let description: String
}

/// Live results with their previous state.
final class FollowedResults<T: ManagedObject>: FollowedList, CustomStringConvertible {
  private let results: FetchedResults<T>
  /// The request that is fetched for comparison.
  private let request: FetchRequest<T>
  /// The properties whose changes are changes of an object.
  private let properties: [String]
  private var objects: [T]
  private var sections: [PropertyValue]
  /// The values of each object.
  private var values: [ObjectID: [String: PropertyValue]] = [:]
  /// Earlier values of the results, and what they contained.
  private var kept: [Kept] = []

  private struct Kept {
    let objects: FetchedResults<T>.Objects
    let sections: [FetchedResults<T>.Section]
    let list: [T]
    let lists: [[T]]
    let values: [PropertyValue]

    init(_ results: FetchedResults<T>) {
      objects = results.objects
      sections = results.sections
      list = Array(objects)
      lists = sections.map { Array($0.objects) }
      values = sections.map(\.value)
    }

    /// Whether the values still contain the same.
    var isTrue: Bool {
      objects.count == list.count && list.indices.allSatisfy { objects[$0] === list[$0] }
        && sections.map { Array($0.objects) } == lists && sections.map(\.value) == values
        && zip(sections, lists).allSatisfy { $0.count == $1.count }
    }
  }

  /// - Parameters:
  ///   - path: The section key path.
  ///   - properties: The properties whose changes have to be reported.
  ///   - expected: The request to compare with. Another request than that of the results is a fault
  ///     that the comparison has to find.
  init(
    _ request: FetchRequest<T>, _ path: String?, watching properties: [String],
    in context: ManagedObjectContext, expecting expected: FetchRequest<T>? = nil
  ) throws {
    results = try context.fetchedResults(request, sectionedBy: path)
    var expected = expected ?? request
    if let path, expected.sortKeys.first?.keyPath != path {
      expected.sortKeys.insert(.ascending(path), at: 0)
    }
    self.request = expected
    self.properties = properties
    objects = Array(results.objects)
    sections = results.sections.map(\.value)
    values = values(of: objects)
  }

  func renewed() throws -> any FollowedList {
    try FollowedResults(
      results.request, results.sectionKeyPath, watching: properties, in: results.context,
      expecting: request)
  }

  var description: String { "\(results.request) by \(results.sectionKeyPath ?? "nothing")" }

  private func values(of objects: [T]) -> [ObjectID: [String: PropertyValue]] {
    var values: [ObjectID: [String: PropertyValue]] = [:]
    for object in objects {
      var own: [String: PropertyValue] = [:]
      for name in properties { own[name] = try? object.value(forKey: name) }
      values[object.objectID] = own
    }
    return values
  }

  private func demand(_ condition: Bool, _ text: @autoclosure () -> String) throws {
    if !condition { throw Contradiction(description: text()) }
  }

  func compare() throws {
    // The fetch merges concurrent commits.
    let fetched = try results.context.fetch(request)
    let difference = try results.update()
    let now = Array(results.objects)
    try demand(now == fetched, "results \(ids(now)) are not what is fetched: \(ids(fetched))")
    try demand(results.count == now.count, "\(results.count) is no count")
    try demand(now.indices.allSatisfy { results[$0] === now[$0] }, "positions are wrong")
    try demand(!now.contains { $0.isDeleted || $0.context == nil }, "holds a deleted object")
    let applied = difference?.applied(to: objects) ?? objects
    try demand(applied == now, "the difference leads to \(ids(applied)), not to \(ids(now))")
    try compareSections(now, difference)
    try compareUpdates(now, difference)
    objects = now
    try demand(kept.allSatisfy(\.isTrue), "values that were kept have changed")
    if kept.count == 3 { kept.removeFirst() }
    kept.append(Kept(results))
  }

  private func compareSections(_ now: [T], _ difference: FetchedResults<T>.Difference?) throws {
    let present = results.sections
    try demand(present.flatMap { Array($0.objects) } == now, "sections are not all objects")
    guard let path = results.sectionKeyPath else { return }
    var names = sections
    for position in (difference?.deletedSections ?? []).reversed() { names.remove(at: position) }
    let new = present.map(\.value)
    for position in difference?.insertedSections ?? [] { names.insert(new[position], at: position) }
    // If the order folds case, a section is named by its first object, which may have changed.
    let folds = results.request.sortKeys.first?.options.contains(.caseInsensitive) ?? false
    func folded(_ value: PropertyValue) -> PropertyValue {
      if folds, case .string(let text) = value { .string(text.lowercased()) } else { value }
    }
    try demand(
      names.map(folded) == new.map(folded),
      "the difference leads to sections \(names), not to \(new)")
    try demand(
      zip(new, new.dropFirst()).allSatisfy { folded($0) != folded($1) }, "sections \(new) repeat")
    for section in present {
      let values = try section.objects.map { folded(try $0.value(forKeyPath: path)) }
      try demand(
        values.allSatisfy { $0 == folded(section.value) }, "section \(section.value) of \(values)")
    }
    sections = new
  }

  private func compareUpdates(_ now: [T], _ difference: FetchedResults<T>.Difference?) throws {
    let before = values
    values = values(of: now)
    let told = Set((difference?.updates ?? []).map(\.object.objectID))
      .union((difference?.moves ?? []).map(\.object.objectID))
    for object in now {
      guard let old = before[object.objectID], old != values[object.objectID] else { continue }
      try demand(told.contains(object.objectID), "\(object.objectID) changed, and nobody said so")
    }
    for pair in difference?.updates ?? [] {
      try demand(
        objects[pair.before].objectID == pair.object.objectID && now[pair.after] == pair.object,
        "an update from \(pair.before) to \(pair.after) is of another object")
    }
  }

  private func ids(_ objects: [T]) -> String {
    objects.map { "\($0.objectID.entityName)\($0.objectID.number)" }.joined(separator: " ")
  }
}
