import ArborData

/// A folder of notes.
final class Folder: ManagedObject {
  override class var entityDescription: EntityDescription { description }
  override class var overriddenHooks: OverriddenHooks { OverriddenHooks(of: Folder.self) }
  private static let description = EntityDescription("Folder", className: "Folder") {
    AttributeDescription("name", .string, .default(""), .unique)
    RelationshipDescription("notes", to: "Note", inverse: "folder", .toMany)
  }

  var name: String {
    get { _attribute(0) }
    set { _setAttribute(0, newValue) }
  }
}

/// A label of any number of notes.
final class Tag: ManagedObject {
  override class var entityDescription: EntityDescription { description }
  override class var overriddenHooks: OverriddenHooks { OverriddenHooks(of: Tag.self) }
  private static let description = EntityDescription("Tag", className: "Tag") {
    AttributeDescription("name", .string, .default(""))
    RelationshipDescription("notes", to: "Note", inverse: "tags", .toMany)
  }

  var notes: Set<Note> {
    get { _toMany(0) }
    set { _setToMany(0, newValue) }
  }

  func fill(name: String) { _setAttribute(0, name) }
}

/// A note, with indexes of the titles and of those of each folder.
final class Note: ManagedObject {
  override class var entityDescription: EntityDescription { description }
  override class var overriddenHooks: OverriddenHooks { OverriddenHooks(of: Note.self) }
  private static let description = EntityDescription("Note", className: "Note") {
    AttributeDescription("title", .string, .default(""), .indexed)
    RelationshipDescription("folder", to: "Folder", inverse: "notes")
    RelationshipDescription("tags", to: "Tag", inverse: "notes", .toMany)
    FetchIndexDescription("byFolder", on: "folder", "title")
  }

  var title: String {
    get { _attribute(0) }
    set { _setAttribute(0, newValue) }
  }
  var folder: Folder? {
    get { _toOne(0) }
    set { _setToOne(0, newValue) }
  }
  var tags: Set<Tag> {
    get { _toMany(1) }
    set { _setToMany(1, newValue) }
  }
}
