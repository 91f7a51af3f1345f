import ArborModel
import ArborObjects
import Testing

/// Both sides of a relationship while changes are pending that another commit conflicts with.
@Suite struct PendingInverseTests {
  private static let model = Result {
    try ManagedObjectModel {
      EntityDescription("Node") {
        AttributeDescription("name", .string, .default(""))
        AttributeDescription("note", .string, .default(""))
        AttributeDescription("rank", .integer64, .default(0), .indexed)
        RelationshipDescription("parent", to: "Node", inverse: "kids")
        RelationshipDescription("kids", to: "Node", inverse: "parent", .toMany)
        RelationshipDescription("list", to: "Node", inverse: "entries")
        RelationshipDescription("entries", to: "Node", inverse: "list", .toMany, .ordered)
        RelationshipDescription("mate", to: "Node", inverse: "mateOf")
        RelationshipDescription("mateOf", to: "Node", inverse: "mate")
      }
    }
  }

  @Test("Both sides and fetches agree after merging a commit", arguments: [true, false])
  func bothSidesAgree(wasRead: Bool) throws {
    for policy in TestedPolicy.all {
      try ObjectStore.use(Self.model.get()) { store in
        let (there, here) = (store.makeContext(), store.makeContext())
        here.mergePolicy = policy.policy
        var nodes: [ManagedObject] = []
        for name in ["p", "q", "k"] {
          let node = try there.insert("Node")
          node["name"] = name
          nodes.append(node)
        }
        let (p, q, k) = (nodes[0], nodes[1], nodes[2])
        k["parent"] = q
        k["list"] = q
        try there.commit()
        let mine = try nodes.map { try here.existingObject(with: $0.objectID) }
        if wasRead {
          for node in mine { #expect(try node.objects(forKey: "kids").count() < 2) }
        }
        mine[2]["note"] = "pending"
        k["parent"] = p
        k["list"] = p
        k["rank"] = 7
        p["mate"] = k
        try there.commit()
        #expect(try here.mergeExternalCommits())
        func check(_ owner: Int, _ mates: Bool, _ rank: Int) throws {
          let (p, q, k) = (mine[0], mine[1], mine[2])
          for (name, inverse) in [("parent", "kids"), ("list", "entries")] {
            #expect(k[name] as ManagedObject? == mine[owner], "\(policy)")
            for node in [p, q] {
              let members = try node.objects(forKey: inverse).fetch()
              #expect(members == (node == mine[owner] ? [k] : []), "\(policy)")
            }
          }
          #expect(p["mate"] as ManagedObject? == (mates ? k : nil), "\(policy)")
          #expect(k["mateOf"] as ManagedObject? == (mates ? p : nil), "\(policy)")
          let name = owner == 0 ? "p" : "q"
          for (predicate, count) in [
            ("parent.name == '\(name)'", 1), ("name == '\(name)' AND kids.@count == 1", 1),
            ("kids.@count > 0", 1), ("ANY kids.name == 'k'", 1), ("rank == \(rank)", 1),
            ("mate != nil", mates ? 1 : 0), ("mateOf.name == 'p'", mates ? 1 : 0),
          ] {
            #expect(
              try here.count("Node", matching: FetchPredicate(format: predicate)) == count,
              "\(predicate) under \(policy)")
          }
        }
        if case .automatic(.overwrite) = policy {
          // The context's objects are written as they are.
          #expect(mine[2]["parent"] as ManagedObject? == mine[1])
          #expect(try mine[0].objects(forKey: "kids").fetch().isEmpty)
          #expect(mine[0]["mate"] as ManagedObject? == nil)
        } else {
          try check(0, true, 7)
        }
        do throws(ArborError) { try here.commit() } catch {
          #expect(error.code == .conflict && policy == .error)
          #expect(mine[2]["note"] == "pending")
          try check(0, true, 7)
          here.rollback()
        }
        let isOverwritten = policy == .automatic(.overwrite) || policy == .custom(.overwrite)
        if isOverwritten {
          #expect(mine[2]["parent"] as ManagedObject? == mine[1])
          #expect(try mine[1].objects(forKey: "kids").fetch() == [mine[2]])
          #expect(mine[2]["mateOf"] as ManagedObject? == nil)
          #expect(mine[0]["mate"] as ManagedObject? == nil)
        } else {
          try check(0, true, 7)
        }
      }
    }
  }
}
