import ArborData
import Foundation

/// An album, whose deletion cascades to its pictures.
final class Album: ManagedObject {
  override class var entityDescription: EntityDescription { description }
  override class var overriddenHooks: OverriddenHooks { OverriddenHooks(of: Album.self) }
  private static let description = EntityDescription(
    name: "Album", className: "Album",
    relationships: [
      RelationshipDescription(
        name: "pictures", destination: "Picture", inverse: "album", isToMany: true,
        deleteRule: .cascade)
    ])
}

final class Picture: ManagedObject {
  override class var entityDescription: EntityDescription { description }
  override class var overriddenHooks: OverriddenHooks { OverriddenHooks(of: Picture.self) }
  private static let description = EntityDescription(
    name: "Picture", className: "Picture",
    attributes: [
      AttributeDescription(name: "title", type: .string, defaultValue: ""),
      AttributeDescription(name: "rating", type: .integer64, defaultValue: 0, isIndexed: true),
    ],
    relationships: [
      RelationshipDescription(name: "album", destination: "Album", inverse: "pictures")
    ])

  var title: String {
    get { _attribute(0) }
    set { _setAttribute(0, newValue) }
  }
  var rating: Int {
    get { _attribute(1) }
    set { _setAttribute(1, newValue) }
  }
  var album: Album? {
    get { _toOne(0) }
    set { _setToOne(0, newValue) }
  }
}

extension Benchmark {
  /// Deletes an object whose deletion cascades to all others, and restores it with undo, before and
  /// after the commit. Not part of the workload.
  func cascade() throws {
    let store = try PersistentStore(for: [Album.self, Picture.self], at: .path(path))
    let filling = store.makeContext()
    let filled = filling.insert(Album.self)
    for number in 0..<count {
      let picture = filling.insert(Picture.self)
      picture.title = "Picture number \(number) of the album"
      picture.rating = number % 7
      picture.album = filled
    }
    try filling.commit()
    filling.reset()

    let context = store.makeContext()
    context.undoHistory = UndoHistory()
    guard let album = try context.fetchOne(Album.self) else { throw BenchmarkError("no album") }
    Meter.measure("16_cascade_delete") {
      context.delete(album)
      return (context.deletedObjects.count, 0)
    }
    try Meter.measure("16_cascade_undo") {
      context.undo()
      return (try context.count(Picture.self), 0)
    }
    context.redo()
    try Meter.measure("16_cascade_commit") {
      try context.commit()
      return (try context.count(Picture.self), 0)
    }
    Meter.measure("16_committed_undo") {
      context.undo()
      return (context.insertedObjects.count, 0)
    }
    try Meter.measure("16_undo_commit") {
      try context.commit()
      return (try context.count(Picture.self), 0)
    }
  }

  /// Measures durable commits of one object with `perform`, sequentially and eight at a time, which
  /// share transactions (group commit). Not part of the workload.
  func perform() async throws {
    let store = try store()
    let commits = 4_000
    for tasks in [1, 8] {
      let meter = Meter()
      try await withThrowingTaskGroup(of: Void.self) { group in
        for task in 0..<tasks {
          group.addTask {
            for number in 0..<(commits / tasks) {
              try await store.perform { context in
                context.insert(Employee.self).employeeID = Int64(
                  1_000_000_000 + tasks * 1_000_000 + task * 100_000 + number)
              }
            }
          }
        }
        try await group.waitForAll()
      }
      meter.report("17_perform_\(tasks)", count: commits, checksum: 0, repetitions: commits)
    }
  }
}
