import ArborExchange
import ArborModel
import ArborObjects
import Foundation
import Testing

/// The effects of the `Replace` policy on members to which other objects refer.
@Suite("Members to which other objects refer") struct SharedMembersTests {
  private static func number(_ name: String) -> AttributeDescription {
    AttributeDescription(name: name, type: .integer64, isOptional: true)
  }

  private static func text(_ name: String) -> AttributeDescription {
    AttributeDescription(name: name, type: .string, isOptional: true)
  }

  /// Creates books with authors, editors and a publisher, and readers with a favourite author, a
  /// relationship without an inverse.
  private func workshop() throws -> ImportWorkshop {
    try ImportWorkshop([
      EntityDescription(
        name: "Book", attributes: [Self.number("bookID"), Self.text("title")],
        relationships: [
          RelationshipDescription(
            name: "authors", destination: "Author", inverse: "books", isToMany: true,
            isOrdered: true),
          RelationshipDescription(
            name: "editors", destination: "Author", inverse: "edited", isToMany: true),
          RelationshipDescription(name: "publisher", destination: "Publisher", inverse: "books"),
          RelationshipDescription(
            name: "notes", destination: "Note", inverse: "book", isToMany: true),
        ]),
      EntityDescription(
        name: "Author", attributes: [Self.number("authorID"), Self.text("note")],
        relationships: [
          RelationshipDescription(
            name: "books", destination: "Book", inverse: "authors", isToMany: true),
          RelationshipDescription(
            name: "edited", destination: "Book", inverse: "editors", isToMany: true),
        ]),
      EntityDescription(
        name: "Publisher", attributes: [Self.number("publisherID"), Self.text("note")],
        relationships: [
          RelationshipDescription(
            name: "books", destination: "Book", inverse: "publisher", isToMany: true)
        ]),
      EntityDescription(
        name: "Reader", attributes: [Self.number("readerID")],
        relationships: [
          RelationshipDescription(name: "favourite", destination: "Author"),
          RelationshipDescription(name: "shelf", destination: "Note", isToMany: true),
        ]),
      EntityDescription(
        name: "Note", attributes: [Self.number("noteID"), Self.text("note")],
        relationships: [
          RelationshipDescription(name: "book", destination: "Book", inverse: "notes")
        ]),
    ])
  }

  /// Imports books and commits.
  private func books(_ text: String, into workshop: ImportWorkshop) throws {
    try workshop.list(text, as: "Book")
    try workshop.context.commit()
  }

  private func ids(_ objects: [ManagedObject], _ name: String) throws -> [PropertyValue] {
    try objects.map { try $0.value(forKey: name) }
  }

  private func write(_ note: String, on entity: String, of workshop: ImportWorkshop) throws {
    for object in try workshop.all(entity) { object["note"] = note }
    try workshop.context.commit()
  }

  @Test("An author shared by two books is updated and keeps both")
  func sharedMembersOfAManyToManyRelationshipAreUpdated() throws {
    let workshop = try workshop()
    try books(
      #"""
      [{"bookID": 1, "authors": [{"authorID": 9}, {"authorID": 8}]},
       {"bookID": 2, "authors": [{"authorID": 9}]}]
      """#, into: workshop)
    try write("mine", on: "Author", of: workshop)
    let former = try workshop.all("Author").map(\.objectID)
    try books(
      #"[{"bookID": 1, "title": "new", "authors": [{"authorID": 8}, {"authorID": 9}]}]"#,
      into: workshop)
    let authors = try workshop.all("Author")
    // Author 9 is kept. Author 8 belonged to this book only and was recreated.
    #expect(try ids(authors, "authorID") == [9, 8])
    #expect(try ids(authors, "note") == ["mine", nil])
    #expect(authors[0].objectID == former[0] && authors[1].objectID != former[1])
    let all = try workshop.all("Book")
    #expect(try ids(all[0].objects(forKey: "authors").fetch(), "authorID") == [8, 9])
    #expect(try ids(all[1].objects(forKey: "authors").fetch(), "authorID") == [9])
    try workshop.finish()
  }

  @Test(
    "A shared author missing from the list is unlinked but not deleted", arguments: ["[]", "null"])
  func sharedMembersThatAListLacksAreUnlinked(list: String) throws {
    let workshop = try workshop()
    try books(
      #"[{"bookID": 1, "authors": [{"authorID": 9}]}, {"bookID": 2, "authors": [{"authorID": 9}]}]"#,
      into: workshop)
    try books("[{\"bookID\": 1, \"authors\": \(list)}]", into: workshop)
    #expect(try ids(workshop.all("Author"), "authorID") == [9])
    let all = try workshop.all("Book")
    #expect(try all[0].objects(forKey: "authors").count() == 0)
    #expect(try all[1].objects(forKey: "authors").count() == 1)
    // Now it belongs to the second book only.
    try books("[{\"bookID\": 2, \"authors\": \(list)}]", into: workshop)
    #expect(try workshop.all("Author").isEmpty)
    try workshop.finish()
  }

  @Test("A publisher shared by two books is updated when one of them is imported again")
  func theSharedObjectOfAToOneRelationshipIsUpdated() throws {
    let workshop = try workshop()
    try books(
      #"""
      [{"bookID": 1, "publisher": {"publisherID": 5}},
       {"bookID": 2, "publisher": {"publisherID": 5}},
       {"bookID": 3, "publisher": {"publisherID": 6}}]
      """#, into: workshop)
    try write("mine", on: "Publisher", of: workshop)
    try books(
      #"""
      [{"bookID": 1, "publisher": {"publisherID": 5}},
       {"bookID": 3, "publisher": {"publisherID": 6}}]
      """#, into: workshop)
    #expect(try ids(workshop.all("Publisher"), "publisherID") == [5, 6])
    #expect(try ids(workshop.all("Publisher"), "note") == ["mine", nil])
    try books(#"[{"bookID": 2, "publisher": {"publisherID": 6}}]"#, into: workshop)
    #expect(try ids(workshop.all("Publisher"), "publisherID") == [5, 6])
    let books = try workshop.all("Book")
    #expect(
      try books.map { try $0.object(forKey: "publisher")?.value(forKey: "publisherID") }
        == [5, 6, 6])
    try workshop.finish()
  }

  @Test("A member that another relationship contains is shared, too")
  func membersOfOtherRelationshipsAreShared() throws {
    let workshop = try workshop()
    try books(
      #"""
      [{"bookID": 1, "authors": [{"authorID": 9}]}, {"bookID": 2, "editors": [{"authorID": 9}]},
       {"bookID": 3, "authors": [{"authorID": 7}], "editors": [{"authorID": 7}]}]
      """#, into: workshop)
    try write("mine", on: "Author", of: workshop)
    try books(
      #"""
      [{"bookID": 1, "authors": [{"authorID": 9}]}, {"bookID": 3, "authors": [{"authorID": 7}]}]
      """#, into: workshop)
    let books = try workshop.all("Book")
    #expect(try ids(books[1].objects(forKey: "editors").fetch(), "note") == ["mine"])
    #expect(try ids(books[0].objects(forKey: "authors").fetch(), "note") == ["mine"])
    // Both of its relationships belong to one book, so no other object is affected.
    #expect(try ids(books[2].objects(forKey: "authors").fetch(), "note") == [nil])
    try workshop.finish()
  }

  @Test("A member referenced by a relationship without an inverse is shared")
  func relationshipsWithoutAnInverseCount() throws {
    let workshop = try workshop()
    try books(
      #"""
      [{"bookID": 1, "authors": [{"authorID": 9}], "notes": [{"noteID": 1}, {"noteID": 2}]}]
      """#, into: workshop)
    try write("mine", on: "Author", of: workshop)
    try write("mine", on: "Note", of: workshop)
    let reader = try workshop.context.insert("Reader")
    try reader.setObject(workshop.all("Author")[0], forKey: "favourite")
    try reader.objects(forKey: "shelf").replaceAll(with: [workshop.all("Note")[0]])
    try workshop.context.commit()
    try books(
      #"""
      [{"bookID": 1, "authors": [{"authorID": 9}], "notes": [{"noteID": 1}, {"noteID": 2}]}]
      """#, into: workshop)
    #expect(try reader.object(forKey: "favourite")?.value(forKey: "note") == "mine")
    #expect(try ids(workshop.all("Author"), "note") == ["mine"])
    #expect(try ids(workshop.all("Note"), "note") == ["mine", nil])
    #expect(try reader.objects(forKey: "shelf").count() == 1)
    try workshop.finish()
  }

  @Test("Replacing a relationship without an inverse keeps objects that others refer to")
  func membersOfARelationshipWithoutAnInverse() throws {
    let workshop = try workshop()
    try workshop.list(
      #"""
      [{"readerID": 1, "favourite": {"authorID": 9}}, {"readerID": 2, "favourite": {"authorID": 9}},
       {"readerID": 3, "favourite": {"authorID": 8}}]
      """#, as: "Reader")
    try write("mine", on: "Author", of: workshop)
    try workshop.list(
      #"""
      [{"readerID": 1, "favourite": {"authorID": 9}}, {"readerID": 3, "favourite": {"authorID": 8}}]
      """#, as: "Reader")
    #expect(try ids(workshop.all("Author"), "authorID") == [9, 8])
    #expect(try ids(workshop.all("Author"), "note") == ["mine", nil])
    #expect(try workshop.all("Reader").allSatisfy { try $0.object(forKey: "favourite") != nil })
    try workshop.finish()
  }

  @Test("An item doesn't delete objects that earlier items of the document have imported")
  func itemsOfOneDocumentDoNotDeleteEachOther() throws {
    let workshop = try ImportWorkshop(ImportWorkshop.company(policy: "Replace"))
    let people = try workshop.list(
      #"""
      [{"employeeID": 1, "name": "A", "friends": [{"employeeID": 2}]},
       {"employeeID": 2, "name": "B", "friends": [{"employeeID": 1}]}]
      """#)
    #expect(people.allSatisfy { !$0.isDeleted })
    #expect(try ids(people, "name") == ["A", "B"])
    #expect(try people[0].objects(forKey: "friends").fetch() == [people[1]])
    try workshop.finish()
    #expect(try workshop.all("Employee").count == 2)
  }

  @Test(
    "The options set the policy of relationships that don't specify one",
    arguments: [
      (ImportMergePolicy.replace, [PropertyValue.null], [1]), (.merge, ["mine", "mine"], [1, 2]),
      (.mergeAndPrune, ["mine", "mine"], [1]),
    ])
  func theDefaultPolicyIsAnOption(
    policy: ImportMergePolicy, notes: [PropertyValue], members: [Int64]
  ) throws {
    let workshop = try workshop()
    try books(#"[{"bookID": 1, "notes": [{"noteID": 1}, {"noteID": 2}]}]"#, into: workshop)
    try write("mine", on: "Note", of: workshop)
    var options = ImportOptions()
    #expect(options.defaultMergePolicy == .replace)
    options.defaultMergePolicy = policy
    try workshop.list(#"[{"bookID": 1, "notes": [{"noteID": 1}]}]"#, as: "Book", options)
    #expect(try ids(workshop.all("Note"), "note") == notes)
    let book = try workshop.all("Book")[0]
    #expect(
      try ids(book.objects(forKey: "notes").fetch(), "noteID") == members.map(PropertyValue.integer)
    )
    try workshop.finish()
    // A policy in the model takes precedence.
    let noted = try ImportWorkshop(ImportWorkshop.company(policy: "Merge"))
    for id in ["1", "2"] {
      try noted.one(
        "{\"departmentID\": \"a\", \"rooms\": [{\"roomID\": \(id)}]}", as: "Department", options)
    }
    #expect(try noted.all("Department")[0].objects(forKey: "rooms").count() == 2)
    try noted.finish()
  }

  @Test(
    "Importing known items changes nothing with Merge and MergeAndPrune",
    arguments: [
      (ImportMergePolicy.merge, false), (.mergeAndPrune, false), (.replace, true),
    ])
  func aSecondImportUnderEachPolicy(policy: ImportMergePolicy, changes: Bool) throws {
    let workshop = try workshop()
    var options = ImportOptions()
    options.defaultMergePolicy = policy
    let text = #"""
      [{"bookID": 1, "title": "t", "authors": [{"authorID": 2}, {"authorID": 1}],
        "publisher": {"publisherID": 5}, "notes": [{"noteID": 1}]}]
      """#
    try workshop.list(text, as: "Book", options)
    try workshop.finish()
    try workshop.list(text, as: "Book", options)
    #expect(workshop.context.hasChanges == changes)
    try workshop.finish()
  }
}
