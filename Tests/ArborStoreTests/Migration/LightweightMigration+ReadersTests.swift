import ArborModel
@testable import ArborStore
import Testing

/// The migrations after which a process may keep reading with the former model.
@Suite struct LightweightMigrationReadersTests {
  private typealias Change = @Sendable (inout ManagedObjectModel) -> Void

  private func model() -> ManagedObjectModel {
    func link(_ name: String, _ destination: String, _ inverse: String, toMany: Bool)
      -> RelationshipDescription
    {
      RelationshipDescription(
        name: name, destination: destination, inverse: inverse, isToMany: toMany)
    }
    return ManagedObjectModel(entities: [
      EntityDescription(
        name: "Book",
        attributes: [
          AttributeDescription(name: "title", type: .string),
          AttributeDescription(name: "pages", type: .integer32, isOptional: true),
        ],
        relationships: [
          link("author", "Author", "books", toMany: false),
          link("tags", "Tag", "books", toMany: true),
        ], fetchIndexes: [FetchIndexDescription(name: "byTitle", elements: [.init("title")])]),
      EntityDescription(
        name: "Author", relationships: [link("books", "Book", "author", toMany: true)]),
      EntityDescription(name: "Tag", relationships: [link("books", "Book", "tags", toMany: true)]),
    ])
  }

  private func leavesReaders(
    _ change: Change, from model: ManagedObjectModel? = nil
  ) throws -> Bool {
    let model = model ?? self.model()
    let old = try ModelSchema(model, catalog: SchemaCatalog(numbering: model))
    var changed = model
    change(&changed)
    return try LightweightMigration(
      from: old, old.model.fingerprint, to: changed, dropping: nil
    ).leavesReadersRight
  }

  @Test("After these changes, processes with the former model may continue to read")
  func theseLeaveReadersRight() throws {
    let changes: [(String, Change)] = [
      ("nothing", { _ in }),
      (
        "index added",
        {
          $0.entities[0].fetchIndexes.append(
            FetchIndexDescription(name: "byPages", elements: [.init("pages")]))
        }
      ),
      ("index renamed", { $0.entities[0].fetchIndexes[0].name = "titles" }),
      ("uniqueness added", { $0.entities[0].uniquenessConstraints = [["pages"]] }),
      ("modifier", { $0.entities[0].versionHashModifier = "2" }),
      (
        "attribute renamed",
        {
          $0.entities[0].attributes[0].name = "name"
          $0.entities[0].attributes[0].renamingIdentifier = "title"
          $0.entities[0].fetchIndexes[0].elements = [.init("name")]
        }
      ),
      (
        "entity and relationships renamed",
        {
          $0.entities[2].name = "Label"
          $0.entities[2].renamingIdentifier = "Tag"
          $0.entities[0].relationships[1].name = "labels"
          $0.entities[0].relationships[1].renamingIdentifier = "tags"
          $0.entities[0].relationships[1].destination = "Label"
          $0.entities[2].relationships[0].inverse = "labels"
        }
      ),
      ("default changed", { $0.entities[0].attributes[1].defaultValue = 7 }),
    ]
    for (name, change) in changes { #expect(try leavesReaders(change), "\(name)") }
  }

  /// The history identifies relationships by number, so reordering their declarations is harmless.
  @Test("Reordering declarations lets readers with the former model continue")
  func theOrderOfDeclarationDoesNotMatter() throws {
    var model = model()
    model.entities[1].relationships.append(
      RelationshipDescription(
        name: "tags", destination: "Tag", inverse: "authors", isToMany: true))
    model.entities[2].relationships.append(
      RelationshipDescription(
        name: "authors", destination: "Author", inverse: "tags", isToMany: true))
    #expect(
      try leavesReaders(
        {
          for index in $0.entities.indices { $0.entities[index].relationships.reverse() }
          $0.entities[0].versionHashModifier = "2"
        }, from: model))
  }

  @Test("After these changes, processes with the former model can't continue to read")
  func theseDoNot() throws {
    let changes: [(String, Change)] = [
      ("index dropped", { $0.entities[0].fetchIndexes = [] }),
      (
        "index of something else",
        { $0.entities[0].fetchIndexes[0].elements = [.init("pages")] }
      ),
      (
        "attribute added",
        {
          $0.entities[1].attributes.append(
            AttributeDescription(name: "name", type: .string, isOptional: true))
        }
      ),
      ("attribute removed", { $0.entities[0].attributes.removeLast() }),
      ("attribute of another type", { $0.entities[0].attributes[1].type = .integer64 }),
      ("mandatory attribute optional", { $0.entities[0].attributes[0].isOptional = true }),
      ("entity added", { $0.entities.append(EntityDescription(name: "Other")) }),
      (
        "entity removed",
        {
          $0.entities.removeLast()
          $0.entities[0].relationships.removeLast()
        }
      ),
      (
        "links added",
        {
          $0.entities[1].relationships.append(
            RelationshipDescription(
              name: "tags", destination: "Tag", inverse: "authors", isToMany: true))
          $0.entities[2].relationships.append(
            RelationshipDescription(
              name: "authors", destination: "Author", inverse: "tags", isToMany: true))
        }
      ),
      ("another parent", { $0.entities[2].parent = "Author" }),
    ]
    for (name, change) in changes { #expect(try !leavesReaders(change), "\(name)") }
  }
}
