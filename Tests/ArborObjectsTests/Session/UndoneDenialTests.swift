import ArborModel
import ArborObjects
import Testing

/// Undo and redo of deletions that members forbid.
@Suite("Undo and redo of forbidden deletions") struct UndoneDenialTests {
  /// A node that a guard protects by a to-one or a many-to-many relationship.
  private struct World {
    let store: PersistentStore
    let context: ManagedObjectContext
    let history = UndoHistory()
    let node: ManagedObject
    let member: ManagedObject
    /// The node's relationship and its inverse.
    let names: (list: String, inverse: String)

    init(_ store: PersistentStore, isManyToMany: Bool, isCommitted: Bool) throws {
      self.store = store
      context = store.makeContext()
      context.undoHistory = history
      names = isManyToMany ? ("pins", "tags") : ("guards", "guarded")
      history.beginGroup()
      node = try context.insert(isManyToMany ? "Tag" : "Node")
      member = try context.insert(isManyToMany ? "Pin" : "Card")
      try node.objects(forKey: names.list).insert(member)
      history.endGroup()
      if isCommitted { try context.commit() }
    }

    static func model() throws -> ManagedObjectModel {
      try ManagedObjectModel {
        EntityDescription("Root") {
          RelationshipDescription(
            "nodes", to: "Node", inverse: "root", .toMany, deleteRule: .cascade)
        }
        EntityDescription("Node") {
          RelationshipDescription(
            "guards", to: "Card", inverse: "guarded", .toMany, deleteRule: .deny)
          RelationshipDescription("root", to: "Root", inverse: "nodes")
        }
        EntityDescription("Card") {
          RelationshipDescription("guarded", to: "Node", inverse: "guards")
        }
        EntityDescription("Tag") {
          RelationshipDescription("pins", to: "Pin", inverse: "tags", .toMany, deleteRule: .deny)
        }
        EntityDescription("Pin") {
          RelationshipDescription("tags", to: "Tag", inverse: "pins", .toMany)
        }
      }
    }

    /// Runs `body` with a world of each kind.
    static func forEach(_ body: (World) throws -> Void) throws {
      for isManyToMany in [false, true] {
        for isCommitted in [false, true] {
          try ObjectStore.use(model()) { store in
            try body(World(store, isManyToMany: isManyToMany, isCommitted: isCommitted))
          }
        }
      }
    }

    func delete(_ object: ManagedObject) {
      context.delete(object)
      history.closeGroup()
    }

    /// A description of the pending state.
    func state() throws -> String {
      func word(_ object: ManagedObject) -> String { object.isDeleted ? "deleted" : "there" }
      let isLinked = try RuledWorld.targets(of: member, names.inverse) == [node.objectID]
      return "\(word(node)), \(word(member))" + (isLinked ? ", linked" : "")
    }

    /// Requires that the commit is refused because of the member, and changes nothing.
    func requireDenial() throws {
      let before = try state()
      let error = try failure { try context.commit() }
      let entity = node.objectID.entityName
      #expect(
        "\(error.code): \(error.message)"
          == "validation: \(entity).\(names.list) still has members, which its delete rule forbids. "
          + "Delete or move the members first.")
      #expect(error.objectID == node.objectID && error.violations.count == 1)
      #expect(try state() == before)
    }

    /// Requires that the commit succeeds and stores the link.
    func requireLink() throws {
      try context.commit()
      let other = store.makeContext()
      let stored = try other.existingObject(with: member.objectID)
      #expect(try RuledWorld.targets(of: stored, names.inverse) == [node.objectID])
    }
  }

  @Test("Redoing a forbidden deletion doesn't remove the link that forbids it")
  func redo() throws {
    try World.forEach { world in
      world.delete(world.node)
      #expect(try world.state() == "deleted, there, linked")
      try world.requireDenial()
      world.history.undo()
      #expect(try world.state() == "there, there, linked")
      world.history.redo()
      #expect(try world.state() == "deleted, there, linked")
      try world.requireDenial()
      world.history.undo()
      try world.requireLink()
    }
  }

  @Test("Undoing the deletions of an object and of its member restores their link")
  func twoDeletions() throws {
    try World.forEach { world in
      world.delete(world.node)
      world.delete(world.member)
      world.history.undo()
      #expect(try world.state() == "deleted, there, linked")
      try world.requireDenial()
      world.history.undo()
      #expect(try world.state() == "there, there, linked")
      world.history.redo()
      world.history.redo()
      #expect(try world.state().hasPrefix("deleted, deleted"))
      world.history.undo()
      world.history.undo()
      try world.requireLink()
    }
  }

  @Test("Undoing the removal of a link to an object whose deletion is pending restores the link")
  func removedLink() throws {
    try World.forEach { world in
      world.delete(world.node)
      if world.names.inverse == "tags" {
        try world.member.objects(forKey: "tags").remove(world.node)
      } else {
        world.member["guarded"] = ManagedObject?.none
      }
      world.history.closeGroup()
      try world.context.validate()
      world.history.undo()
      #expect(try world.state() == "deleted, there, linked")
      try world.requireDenial()
      world.history.redo()
      try world.context.commit()
      #expect(try world.store.makeContext().count(world.node.objectID.entityName) == 0)
    }
  }

  @Test(
    "A forbidden deletion of an object that was never committed ends with its member's deletion")
  func neverCommitted() throws {
    try World.forEach { world in
      world.delete(world.node)
      world.delete(world.member)
      try world.context.commit()
      #expect(!world.context.hasChanges && world.context.registeredObjects.isEmpty)
      let entities = [world.node, world.member].map(\.objectID.entityName)
      for entity in entities { #expect(try world.store.makeContext().count(entity) == 0) }
    }
  }

  @Test("Undoing everything leaves nothing to commit")
  func undoingEverything() throws {
    try World.forEach { world in
      let isCommitted = !world.context.hasChanges
      world.delete(world.node)
      world.delete(world.member)
      while world.history.canUndo { world.history.undo() }
      #expect(world.context.hasChanges == isCommitted)
      #expect(world.node.isDeleted && world.member.isDeleted)
      try world.context.commit()
    }
  }

  @Test("A cascade, undone and redone, is refused because of an object that it reaches")
  func cascade() throws {
    try ObjectStore.use(World.model()) { store in
      let world = try World(store, isManyToMany: false, isCommitted: true)
      let root = try world.context.insert("Root")
      world.node["root"] = root
      world.history.closeGroup()
      world.delete(root)
      #expect(try world.state() == "deleted, there, linked")
      try world.requireDenial()
      world.history.undo()
      world.history.redo()
      try world.requireDenial()
      world.context.rollback()
      #expect(try world.state() == "there, there, linked")
    }
  }

  @Test("A rollback of an insertion unlinks members that would forbid a deletion")
  func rolledBackInsertion() throws {
    try World.forEach { world in
      guard world.node.isInserted else { return }
      world.context.rollback(world.node)
      #expect(world.node.context == nil && !world.member.isDeleted)
      #expect(try RuledWorld.targets(of: world.member, world.names.inverse) == [])
      try world.context.commit()
      #expect(try world.store.makeContext().count(world.node.objectID.entityName) == 0)
    }
  }
}
