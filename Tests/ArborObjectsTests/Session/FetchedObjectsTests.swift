import ArborModel
import Testing

import ArborObjects

/// Objects of a class that overrides `awakeFromFetch`, mixed with those of one that doesn't.
@Suite("Awaking fetched objects") struct FetchedObjectsTests {
  class Guest: ManagedObject {
    override class var entityDescription: EntityDescription {
      EntityDescription(
        name: "Guest", className: "Guest",
        attributes: [AttributeDescription(name: "badge", type: .integer64, defaultValue: 0)],
        relationships: [
          RelationshipDescription(
            name: "host", destination: "Guest", inverse: "guests"),
          RelationshipDescription(
            name: "guests", destination: "Guest", inverse: "host", isToMany: true),
        ])
    }
    var badge: Int {
      get { _attribute(0) }
      set { _setAttribute(0, newValue) }
    }
    var host: Guest? {
      get { _toOne(0) }
      set { _setToOne(0, newValue) }
    }
    var guests: Set<Guest> { _toMany(1) }
    var fetches: Int { 1 }
  }
  final class Speaker: Guest {
    override class var entityDescription: EntityDescription {
      EntityDescription(name: "Speaker", className: "Speaker", parent: "Guest")
    }
    private var heard = 0
    override var fetches: Int { heard }
    override func awakeFromFetch() { heard += 1 }
  }

  /// Calls `body` with a store of 300 guests. Every third is a speaker, and each has one of the
  /// first three as its host.
  private func withGuests(_ body: (PersistentStore) throws -> Void) throws {
    let classes: [ManagedObject.Type] = [Guest.self, Speaker.self]
    try ObjectStore.use(ManagedObjectModel(for: classes), classes: classes) { store in
      let writer = store.makeContext()
      var hosts: [Guest] = []
      for badge in 0..<300 {
        let guest = badge % 3 == 0 ? writer.insert(Speaker.self) : writer.insert(Guest.self)
        guest.badge = badge
        if badge < 3 { hosts.append(guest) }
        guest.host = hosts[badge % hosts.count]
      }
      try writer.commit()
      try body(store)
    }
  }

  @Test(
    "Every fetched object is awakened once",
    arguments: ["all", "known", "prefetch", "members", "cursor", "page", "results", "IDs"])
  func everyObjectHearsOfItOnce(way: String) throws {
    try withGuests { store in
      let context = store.makeContext()
      var request = FetchRequest<Guest>(sortKeys: ["badge"])
      var found: [Guest] = []
      switch way {
      case "known":
        found = try context.fetch(FetchRequest<Guest>(predicate: "badge < 100"))
        found += try context.fetch(FetchRequest<Guest>(predicate: "badge >= 50 AND badge < 120"))
        found += try context.fetch(request)
      case "prefetch":
        request.predicate = "badge < 3"
        request.relationshipKeyPathsForPrefetching = ["guests"]
        found = try context.fetch(request)
        found += context.registeredObjects.compactMap { $0 as? Guest }
      case "members":
        for badge in 0..<3 {
          let host = try #require(
            try context.fetchOne(Guest.self, matching: "badge == \(badge)"))
          found += host.guests.filter { !found.contains($0) }
        }
      case "cursor":
        let cursor = try context.cursor(for: request)
        while let guest = try cursor.next() { found.append(guest) }
      case "page":
        request.fetchLimit = 70
        var next: String? = nil
        repeat {
          let page = try context.fetchPage(request, after: next)
          found += page.objects
          next = page.next
        } while next != nil
      case "results": found = Array(try context.fetchedResults(request).objects)
      case "IDs":
        found = try context.objects(with: context.fetchIDs(request)).compactMap { $0 as? Guest }
      default: found = try context.fetch(request)
      }
      #expect(Set(found).count == 300)
      #expect(found.allSatisfy { $0.fetches == 1 }, "\(way)")
      #expect(Set(found).count { $0 is Speaker } == 100)
    }
  }
}
