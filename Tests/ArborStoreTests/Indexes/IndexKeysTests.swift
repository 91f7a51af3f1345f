import ArborModel
import ArborStore
import Testing

@Suite struct IndexKeysTests {
  @Test("The key of a compound index contains its columns in order")
  func aCompoundIndexJoinsItsColumnsInOrder() throws {
    let schema = try ModelSchema(Self.model, catalog: SchemaCatalog(numbering: Self.model))
    let person = try #require(schema.entity(named: "Employee"))
    let index = try #require(person.indexes.first { $0.name == "byCompany" })
    let allocator = SlabAllocator()
    var record = RecordBuffer(copying: person.layout.template, into: allocator)
    let company = ObjectNumber(entity: 2, sequence: 7)
    let values: [PropertyValue] = [.integer(Int64(company.rawValue)), .string("Ann"), .integer(41)]
    for (column, value) in zip(index.columns, values) {
      let isSet = record.set(person.field(of: column.source), value, allocator: allocator)
      #expect(isSet)
    }

    var key = KeyBuffer()
    IndexKeys(index, of: person).key(of: record.view, into: &key)
    let columns = person.keyColumns(of: index)
    #expect(columns.map(\.kind) == [.reference, .string, .int32])
    #expect(columns.map(\.isAscending) == [true, false, true])
    #expect(KeyDecoder.decode(key.bytes, columns: columns)?.values == values)

    // The buffer is reused, and nothing of the earlier key remains.
    IndexKeys(try #require(person.indexes.first { $0.name == "age" }), of: person)
      .key(of: record.view, into: &key)
    #expect(KeyDecoder.decode(key.bytes, columns: [(.int32, true)])?.values == [.integer(41)])
  }

  private static let model = ManagedObjectModel(entities: [
    EntityDescription(
      name: "Person",
      attributes: [
        AttributeDescription(name: "name", type: .string),
        AttributeDescription(name: "age", type: .integer32, isIndexed: true),
      ]),
    EntityDescription(
      name: "Company",
      relationships: [
        RelationshipDescription(
          name: "employees", destination: "Employee", inverse: "company", isToMany: true)
      ]),
    EntityDescription(
      name: "Employee", parent: "Person",
      relationships: [
        RelationshipDescription(name: "company", destination: "Company", inverse: "employees")
      ],
      fetchIndexes: [
        FetchIndexDescription(
          name: "byCompany",
          elements: [.init("company"), .init("name", isAscending: false), .init("age")])
      ]),
  ])
}
