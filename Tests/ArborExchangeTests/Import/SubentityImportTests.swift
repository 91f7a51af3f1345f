import ArborExchange
import ArborJSON
import ArborModel
import ArborObjects
import Foundation
import Testing

/// Items of lists and relationships that belong to different subentities.
@Suite("Items of subentities") struct SubentityImportTests {
  private static func attribute(
    _ name: String, _ type: AttributeType = .integer64, key: String? = nil
  ) -> AttributeDescription {
    AttributeDescription(
      name: name, type: type, isOptional: true, userInfo: key.map { ["ImportName": $0] } ?? [:])
  }

  /// Returns entities of posts with media, which are photos or films. A portrait is a photo.
  private static func entities(
    media: [String: String] = ["PrimaryAttribute": "mediaID"], photo: [String: String] = [:],
    isAbstract: Bool = true, policy: String = "Merge"
  ) -> [EntityDescription] {
    [
      EntityDescription(
        name: "Post", attributes: [attribute("postID")],
        relationships: [
          RelationshipDescription(
            name: "media", destination: "Media", inverse: "post", isToMany: true,
            userInfo: ["MergePolicy": policy]),
          RelationshipDescription(
            name: "cover", destination: "Media", inverse: "covered",
            userInfo: ["MergePolicy": policy]),
        ]),
      EntityDescription(
        name: "Media", isAbstract: isAbstract,
        attributes: [attribute("mediaID"), attribute("title", .string)],
        relationships: [
          RelationshipDescription(name: "post", destination: "Post", inverse: "media"),
          RelationshipDescription(name: "covered", destination: "Post", inverse: "cover"),
        ], userInfo: media),
      EntityDescription(
        name: "Photo", parent: "Media", attributes: [attribute("width", key: "size.width")],
        relationships: [
          RelationshipDescription(
            name: "places", destination: "Place", inverse: "photo", isToMany: true,
            userInfo: ["MergePolicy": policy])
        ], userInfo: photo),
      EntityDescription(
        name: "Portrait", parent: "Photo", attributes: [attribute("person", .string)]),
      EntityDescription(name: "Film", parent: "Media", attributes: [attribute("length")]),
      EntityDescription(
        name: "Place", attributes: [attribute("placeID")],
        relationships: [
          RelationshipDescription(name: "photo", destination: "Photo", inverse: "places")
        ]),
    ]
  }

  private func media(_ workshop: ImportWorkshop) throws -> [String] {
    try workshop.finish()
    return try workshop.all("Media").map { object in
      let values = try ["mediaID", "title", "width", "person", "length"].compactMap { name in
        object.entity.attributes.contains { $0.name == name }
          || ["mediaID", "title"].contains(name)
          || (name == "width" && object.entity.name == "Portrait")
          ? "\(try object.value(forKey: name))" : nil
      }
      return ([object.entity.name] + values).joined(separator: " ")
    }.sorted()
  }

  private static let both = #"""
    [{"postID": 1, "cover": {"mediaID": 3, "type": "Portrait", "person": "Ann"},
      "media": [{"mediaID": 1, "type": "Photo", "size": {"width": 3}},
                {"mediaID": 2, "type": "Film", "length": 9}]}]
    """#

  @Test(
    "An item of an abstract entity names its subentity",
    arguments: ["Merge", "MergeAndPrune", "Replace"])
  func abstractEntities(policy: String) throws {
    let workshop = try ImportWorkshop(Self.entities(policy: policy))
    try workshop.list(Self.both, as: "Post")
    let expected = Set(["Portrait 3 nil nil Ann", "Photo 1 nil 3", "Film 2 nil 9"])
    #expect(Set(try media(workshop)) == expected)
    try workshop.list(Self.both, as: "Post")
    #expect(Set(try media(workshop)) == expected)
    let objects = try workshop.list(
      #"[{"mediaID": 4, "type": "Photo", "size": {"width": 1}}, {"mediaID": 1, "title": "t"}]"#,
      as: "Media")
    #expect(objects.map(\.entity.name) == ["Photo", "Photo"])
    try workshop.finish()
  }

  @Test("An existing object that is reached through its parent entity keeps all its members")
  func existingObjects() throws {
    let workshop = try ImportWorkshop(Self.entities())
    try workshop.list(Self.both, as: "Post")
    try workshop.list(
      #"""
      [{"postID": 2, "cover": {"mediaID": 3, "size": {"width": 7}, "person": "Zoe"}, "media":
        [{"mediaID": 1, "title": "new", "size": {"width": 4}, "length": 8,
          "places": [{"placeID": 6}, {"placeID": 7}]},
         {"mediaID": 2, "length": 5, "size": {"width": 6}}]}]
      """#, as: "Post")
    #expect(
      Set(try media(workshop))
        == ["Portrait 3 nil 7 Zoe", "Photo 1 new 4", "Film 2 nil 5"])
    let photo = try #require(try workshop.all("Photo").first { $0["mediaID"] == 1 })
    #expect(try photo.objects(forKey: "places").fetch().count == 2)
    // This also applies to pending objects, to a single object, and within a list.
    let one = try #require(try workshop.one(#"{"mediaID": 1, "size": {"width": 5}}"#, as: "Media"))
    #expect(one === photo && one["width"] == 5)
    try workshop.list(#"[{"mediaID": 9, "type": "Film"}]"#, as: "Media")
    try workshop.list(#"[{"mediaID": 9, "length": 4}]"#, as: "Media")
    #expect(try media(workshop).contains("Film 9 nil 4"))
  }

  @Test("Notes name the member and its values")
  func notes() throws {
    let workshop = try ImportWorkshop(
      Self.entities(
        media: ["PrimaryAttribute": "mediaID", "ImportEntityKey": "meta.kind, kind"],
        photo: ["ImportEntityName": "picture, 2"], isAbstract: false))
    try workshop.list(
      #"""
      [{"mediaID": 1, "kind": "picture", "size": {"width": 3}}, {"mediaID": 2, "kind": 2},
       {"mediaID": 3, "meta": {"kind": "Film"}, "kind": "picture"}, {"mediaID": 4},
       {"mediaID": 5, "kind": null}, {"mediaID": 6, "kind": "Media"}, {"mediaID": 7, "type": "Film"}]
      """#, as: "Media")
    #expect(
      try media(workshop).map { $0.split(separator: " ").prefix(2).joined(separator: " ") } == [
        "Film 3", "Media 4", "Media 5", "Media 6", "Media 7", "Photo 1", "Photo 2",
      ])
    let error = try workshop.failure {
      try workshop.list(#"[{"mediaID": 8}, {"mediaID": 9, "kind": "pictur"}]"#, as: "Media")
    }
    #expect(error.code == .invalidDocument && error.location?.path == "$[1]")
    #expect(
      error.message == """
        The item's “kind” doesn't name an entity that is imported as Media. Use “2” or “Film” or \
        “Media” or “Portrait” or “picture”. Did you mean picture?
        """)
    // A subentity's items may only choose among its own kinds.
    let other = try workshop.failure {
      try workshop.list(#"[{"mediaID": 8, "kind": "Film"}]"#, as: "Photo")
    }
    #expect(other.code == .invalidDocument)
  }

  @Test("Items that contradict their objects, or name no subentity, are rejected")
  func contradictions() throws {
    let workshop = try ImportWorkshop(Self.entities())
    try workshop.list(Self.both, as: "Post")
    let film = try #require(try workshop.all("Film").first)
    let error = try workshop.failure {
      try workshop.list(#"[{"mediaID": 2, "type": "Photo"}]"#, as: "Media")
    }
    #expect(error.code == .invalidDocument && error.location?.path == "$[0]")
    #expect(
      error.message == """
        The item describes an object of Photo, but the object with its identity, Film \
        \(film.objectID.number), belongs to Film. Correct the item's entity or its identity.
        """)
    let missing = try workshop.failure {
      try workshop.list(#"[{"postID": 5, "media": [{"mediaID": 8, "type": "Song"}]}]"#, as: "Post")
    }
    #expect(missing.code == .invalidDocument && missing.location?.path == "$[0].media[0]")
    #expect(
      missing.message == """
        Media is abstract, and the item's “type” doesn't name one of its subentities. Use “Film” \
        or “Photo” or “Portrait”.
        """)
    var options = ImportOptions()
    options.lenient = true
    options.report = ImportReport()
    let objects = try workshop.list(
      #"""
      [{"mediaID": 2, "type": "Photo", "title": "lost"}, {"mediaID": 2, "length": 1},
       {"mediaID": 8}, {"mediaID": 9, "type": "Film"}]
      """#, as: "Media", options)
    #expect(objects.map { $0["mediaID"] as Int64? } == [2, 9])
    #expect(options.report?.findings.dropped.map { $0.location?.path } == ["$[2]"])
    #expect(film["length"] == 1 && film["title"] == PropertyValue.null)
    try workshop.finish()
  }

  @Test("Subentities may have their own identities")
  func ownIdentities() throws {
    let workshop = try ImportWorkshop([
      EntityDescription(name: "Media", isAbstract: true, attributes: []),
      EntityDescription(name: "Photo", parent: "Media", attributes: [Self.attribute("photoID")]),
      EntityDescription(
        name: "Song", parent: "Media", attributes: [Self.attribute("title", .string)]),
    ])
    let text = #"""
      [{"type": "Photo", "photoID": 1}, {"type": "Song", "title": "a"}, {"type": "Photo", "photoID": 2},
       {"type": "Photo", "photoID": 1}]
      """#
    #expect(try workshop.list(text, as: "Media").count == 3)
    try workshop.list(text, as: "Media")
    #expect(try workshop.all("Photo").count == 2 && workshop.all("Song").count == 2)
    let error = try workshop.failure { try workshop.list(#"[{"type": "Photo"}]"#, as: "Media") }
    #expect(error.code == .missingIdentity)
    try workshop.finish()
  }

  @Test("Batches commit items of subentities")
  func batches() async throws {
    let store = try PersistentStore(
      model: ManagedObjectModel(entities: Self.entities()), at: .inMemory)
    var options = ImportOptions()
    options.batchSize = 3
    let kinds = ["Photo", "Film", "Portrait"]
    func items(_ member: (Int) -> String) -> JSONSource {
      .data(
        Data(
          "[\((0..<20).map { "{\"mediaID\": \($0), \(member($0))}" }.joined(separator: ","))]".utf8)
      )
    }
    try await store.importObjects(
      from: items { "\"type\": \"\(kinds[$0 % 3])\"" }, as: "Media", options: options
    ).finish()
    let step = try await store.importObjects(
      from: items { "\"size\": {\"width\": \($0)}, \"length\": \($0)" }, as: "Media",
      options: options
    ).finish()
    #expect(step.updated == 20 && step.inserted == 0)
    let context = store.makeContext()
    for film in try context.fetch("Film") {
      #expect(film["length"] as Int64? == film["mediaID"] as Int64?)
    }
    for photo in try context.fetch("Photo") {
      #expect(photo["width"] as Int64? == photo["mediaID"] as Int64?)
    }
    #expect(try context.count("Portrait") == 6 && context.count("Photo") == 13)
    try store.check()
  }

  // MARK: Syncs

  private struct Serializer: SyncSerializer {
    typealias Object = ManagedObject
    var entityName: String?
    var properties: [String: SyncSource]
    var isStrict = false
    var deleteMissing = false
    var variants: SyncVariants?
    var identifiers: [String] { ["mediaID"] }
    var strictTypes: Bool { isStrict }
    var absentKeys: SyncAbsentKeys { .leave }
    var mapping: SyncMapping { SyncMapping(properties) }
  }

  private static func serializer(isStrict: Bool = false) -> Serializer {
    let common: [String: SyncSource] = ["mediaID": .int("id"), "title": .string("title")]
    return Serializer(
      entityName: "Media", properties: common, isStrict: isStrict, deleteMissing: true,
      variants: SyncVariants(
        by: ["meta", "kind"],
        [
          "p": Serializer(
            entityName: "Photo", properties: common.merging(["width": .int("w")]) { $1 }),
          "f": Serializer(
            entityName: "Film", properties: common.merging(["length": .int("l")]) { $1 }),
        ]))
  }

  @Test("A sync chooses among the serializers of subentities")
  func syncs() throws {
    let workshop = try ImportWorkshop(Self.entities())
    let text: JSONSource = #"""
      [{"id": 1, "meta": {"kind": "p"}, "w": 3, "l": 4}, {"id": 2, "meta": {"kind": "f"}, "l": 5},
       {"id": 3, "meta": {"kind": "p"}}]
      """#
    let report = try workshop.context.sync(from: text, using: Self.serializer())
    #expect(report.inserted == 3)
    #expect(try media(workshop) == ["Film 2 nil 5", "Photo 1 nil 3", "Photo 3 nil nil"])
    #expect(try workshop.context.sync(from: text, using: Self.serializer()).unchanged == 3)
    // Existing objects are read with their own serializer, and a portrait with that of a photo.
    try workshop.list(#"[{"mediaID": 4, "type": "Portrait"}]"#, as: "Media")
    let next = try workshop.context.sync(
      from:
        #"[{"id": 1, "w": 8, "title": "t"}, {"id": 4, "w": 9}, {"id": 2, "meta": {"kind": "x"}, "l": 7}]"#,
      using: Self.serializer())
    #expect(next.updated == 3 && next.deleted == 1)
    #expect(
      try media(workshop) == ["Film 2 nil 7", "Photo 1 t 8", "Portrait 4 nil 9 nil"])
  }

  @Test("A sync rejects unsuitable variants, and unknown ones with strict types")
  func syncProblems() throws {
    let workshop = try ImportWorkshop(Self.entities())
    let unknown: JSONSource = #"[{"id": 1, "meta": {"kind": "x"}}]"#
    let error = try workshop.failure {
      try workshop.context.sync(from: unknown, using: Self.serializer())
    }
    #expect(
      error.message == """
        Media is abstract, and the item's “meta.kind” doesn't name one of its subentities. Use \
        “f” or “p”.
        """)
    let strict = try workshop.failure {
      try workshop.context.sync(from: unknown, using: Self.serializer(isStrict: true))
    }
    #expect(strict.message.hasPrefix("The item's “meta.kind” doesn't name an entity"))
    var wrong = Self.serializer()
    wrong.variants = SyncVariants(
      by: "type", ["place": Serializer(entityName: "Place", properties: [:])])
    let unsuitable = try workshop.failure {
      try workshop.context.sync(from: unknown, using: wrong)
    }
    #expect(
      unsuitable.message == """
        The variant “place” of the serializer of Media is for Place. Use a serializer for a \
        subentity of Media.
        """)
  }

  // MARK: Value models

  private class Media: ValueModel {
    var mediaID: Int
    class var entityName: String { "Media" }
    static var uniquingKeys: Set<String> { ["mediaID"] }
    class func modelType(for json: JSONValue) -> any ValueModel.Type {
      switch json["type"]?.string {
      case "Photo": Photo.self
      case "Film": Film.self
      default: Media.self
      }
    }
    class func modelType(for object: ManagedObject) -> any ValueModel.Type {
      object.entity.name == "Film" ? Film.self : Photo.self
    }
    enum CodingKeys: String, CodingKey { case mediaID }
    init(mediaID: Int) { self.mediaID = mediaID }
  }

  private final class Photo: Media {
    var width: Int?
    override class var entityName: String { "Photo" }
    enum Keys: String, CodingKey { case width }
    required init(from decoder: any Decoder) throws {
      width = try decoder.container(keyedBy: Keys.self).decodeIfPresent(Int.self, forKey: .width)
      try super.init(from: decoder)
    }
    override func encode(to encoder: any Encoder) throws {
      try super.encode(to: encoder)
      var container = encoder.container(keyedBy: Keys.self)
      try container.encodeIfPresent(width, forKey: .width)
    }
  }

  private final class Film: Media {
    var length: Int?
    override class var entityName: String { "Film" }
    enum Keys: String, CodingKey { case length }
    required init(from decoder: any Decoder) throws {
      length = try decoder.container(keyedBy: Keys.self).decodeIfPresent(Int.self, forKey: .length)
      try super.init(from: decoder)
    }
    override func encode(to encoder: any Encoder) throws {
      try super.encode(to: encoder)
      var container = encoder.container(keyedBy: Keys.self)
      try container.encodeIfPresent(length, forKey: .length)
    }
  }

  private struct Post: ValueModel {
    var postID: Int
    var media: [Media]
    static let uniquingKeys: Set<String> = ["postID"]
  }

  @Test("A value model chooses the class, and with it the entity, of each item")
  func valueModels() throws {
    let workshop = try ImportWorkshop(Self.entities())
    let post = try ValueAdapter.decode(
      Post.self,
      from: #"""
        {"postID": 1, "media": [{"mediaID": 1, "type": "Photo", "width": 3},
          {"mediaID": 2, "type": "Film", "length": 4}]}
        """#)
    try workshop.context.upsert(post)
    try workshop.context.upsert(post)
    #expect(Set(try media(workshop)) == ["Photo 1 nil 3", "Film 2 nil 4"])
    let read = try workshop.context.values(Post.self)
    #expect(read.count == 1 && Set(read[0].media.map { "\(type(of: $0))" }) == ["Photo", "Film"])
  }
}
