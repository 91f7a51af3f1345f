import ArborModel
@testable import ArborStore
import TestSupport
import Testing

/// Records of older layouts, which must read as if they had been written in the newest one.
@Suite struct StoreLayoutsTests {
  typealias Field = (
    kind: FieldKind, isTransient: Bool, catalogNumber: UInt16, defaultValue: PropertyValue
  )

  private let number: ObjectNumber
  private let entity: EntitySchema
  private let allocator = SlabAllocator()

  /// Creates the newest layout, the third: `title` (1), `pages` (3) and `price` (4).
  init() throws {
    let model = try ManagedObjectModel {
      EntityDescription("Book") {
        AttributeDescription("title", .string, .optional)
        AttributeDescription("pages", .integer32, .default(1))
        AttributeDescription("price", .double, .default(9.5))
      }
    }
    let catalog = SchemaCatalog(entries: [
      "Book": .init(
        number: 7, layoutNumber: 3, properties: ["title": 1, "pages": 3, "price": 4])
    ])
    entity = try #require(try ModelSchema(model, catalog: catalog).entity(named: "Book"))
    number = ObjectNumber(entity: 7, sequence: 5)
  }

  private func layout(_ number: UInt16, _ fields: [Field]) -> StoredLayout {
    StoredLayout(
      layout: RecordLayout(entity: 7, number: number, fields: fields),
      defaults: fields.map(\.defaultValue))
  }

  /// The first layout: `title` (1) and a subtitle (2) that was dropped later.
  private var first: StoredLayout {
    layout(1, [(.string, false, 1, .null), (.string, false, 2, .null)])
  }

  /// The second layout: no subtitle, and `pages` (3), which is 100 for older books.
  private var second: StoredLayout {
    layout(2, [(.string, false, 1, .null), (.int32, false, 3, 100)])
  }

  private func sealed(_ stored: StoredLayout, _ values: [Int: PropertyValue]) -> [UInt8] {
    var buffer = RecordBuffer(copying: stored.layout.template, into: allocator)
    for (index, value) in values {
      let fits = buffer.set(stored.layout.fields[index], value, allocator: allocator)
      #expect(fits)
    }
    var bytes = [UInt8](repeating: 0, count: buffer.view.sealedSize(stored.layout))
    bytes.withUnsafeMutableBytes {
      buffer.view.seal(into: $0, layout: stored.layout, key: number, version: 6, commit: 9)
    }
    return bytes
  }

  private func read(_ bytes: [UInt8], _ layouts: StoreLayouts) throws -> [PropertyValue] {
    try bytes.withUnsafeBytes { bytes in
      let base = try #require(bytes.baseAddress)
      let record = try layouts.verified(
        RecordView(base: base, count: bytes.count), of: number, entity: entity,
        allocator: allocator)
      #expect(record.version == 6)
      return entity.attributes.map { record.value($0.field) }
    }
  }

  @Test("Fields that were added later have the defaults stored with their layouts")
  func addedFieldsHaveWhatWasFrozen() throws {
    let layouts = try StoreLayouts([first, second, StoredLayout(entity)], of: [entity])
    #expect(
      try read(sealed(first, [0: "Moby Dick", 1: "The Whale"]), layouts) == [
        "Moby Dick", 100, 9.5,
      ])
    #expect(try read(sealed(second, [0: "Emma", 1: .null]), layouts) == ["Emma", .null, 9.5])
    #expect(try read(sealed(second, [1: 320]), layouts) == [.null, 320, 9.5])
  }

  @Test("Values of older layouts are converted, and an older nil becomes a later default")
  func kindsAndNilGoFromLayoutToLayout() throws {
    let fields: [Field] = [(.string, false, 1, .null), (.int16, false, 3, .null)]
    let old = layout(1, fields)
    let between = StoredLayout(
      layout: RecordLayout(
        entity: 7, number: 2, fields: [(.string, false, 1, "?"), (.int32, false, 3, 7)]),
      defaults: ["?", 7], nilAsDefault: [3])
    let newest = StoredLayout(entity)
    let layouts = try StoreLayouts([newest, between, old], of: [entity])
    #expect(try read(sealed(old, [0: "Emma", 1: 320]), layouts) == ["Emma", 320, 9.5])
    #expect(try read(sealed(old, [:]), layouts) == [.null, 7, 9.5])
    // A `nil` that was stored later remains `nil`.
    #expect(try read(sealed(between, [1: .null]), layouts) == ["?", .null, 9.5])
  }

  private func isDamage(_ body: () throws -> Void) throws -> Bool {
    do { try body() } catch StoreError.corrupted { return true }
    return false
  }

  @Test("A layout whose fields can't be converted to the newest one is reported as damage")
  func aKindThatDoesNotConvertIsDamage() throws {
    let old = layout(1, [(.binary, false, 1, .null)])
    #expect(
      try isDamage { _ = try StoreLayouts([old, second, StoredLayout(entity)], of: [entity]) })
    // The newest layout lacks a field of the model.
    #expect(
      try isDamage {
        _ = try StoreLayouts([first, layout(3, [(.string, false, 2, .null)])], of: [entity])
      })
  }

  @Test("A record in the newest layout is read without copying it")
  func theNewestIsReadInPlace() throws {
    let newest = StoredLayout(entity)
    let bytes = sealed(newest, [0: "Emma"])
    try bytes.withUnsafeBytes { bytes in
      let base = try #require(bytes.baseAddress)
      let record = try StoreLayouts().verified(
        RecordView(base: base, count: bytes.count), of: number, entity: entity,
        allocator: allocator)
      #expect(record.base == base)
    }
  }

  @Test("Damage is also found in records of older layouts")
  func damageIsFoundInOldRecordsToo() throws {
    let layouts = try StoreLayouts([first, second, StoredLayout(entity)], of: [entity])
    let bytes = sealed(first, [0: "Moby Dick", 1: "The Whale"])
    for index in bytes.indices {
      var changed = bytes
      changed[index] ^= 1
      #expect(try isDamage { _ = try read(changed, layouts) }, "byte \(index)")
    }
    #expect(try isDamage { _ = try read([1, 0, 1], layouts) })
    // A layout that the store doesn't have.
    let fewer = try StoreLayouts([second, StoredLayout(entity)], of: [entity])
    #expect(try isDamage { _ = try read(bytes, fewer) })
  }
}
