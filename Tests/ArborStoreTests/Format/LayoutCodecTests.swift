import ArborModel
@testable import ArborStore
import Foundation
import TestSupport
import Testing

@Suite struct LayoutCodecTests {
  @Test("A layout survives a round trip, and damaged bytes are rejected")
  func comesBackAsItWas() {
    let values: [FieldKind: PropertyValue] = [
      .boolean: .boolean(true), .int16: 3, .int32: -4, .int64: 5, .float: 0.5, .double: 2.25,
      .date: .date(Date(timeIntervalSinceReferenceDate: 9)), .uuid: .uuid(UUID()),
      .string: "ä", .binary: .binary(Data([1, 2])), .decimal: .decimal(1),
      .tagged: .list([1, "a"]),
    ]
    let fields = FieldKind.allCases.enumerated().map { index, kind in
      (
        kind: kind, isTransient: index % 5 == 4, catalogNumber: UInt16(index * 3 + 1),
        defaultValue: values[kind] ?? .null
      )
    }
    let stored = StoredLayout(
      layout: RecordLayout(entity: 9, number: 4, fields: fields),
      defaults: fields.map(\.defaultValue), nilAsDefault: [1, 13])
    let bytes = LayoutCodec.encode(stored)
    let read = bytes.withUnsafeBytes { LayoutCodec.decode($0, entity: 9, number: 4) }
    #expect(read?.layout.fields == stored.layout.fields)
    #expect(read?.layout.template == stored.layout.template)
    #expect(read?.defaults == stored.defaults)
    #expect(read?.nilAsDefault == [1, 13])
    for index in bytes.indices {
      var changed = bytes
      changed[index] ^= 8
      let other = changed.withUnsafeBytes { LayoutCodec.decode($0, entity: 9, number: 4) }
      #expect(other == nil, "byte \(index)")
    }
  }

  @Test("A stored layout contains the default values of the model")
  func takesTheDefaultsOfTheModel() throws {
    let model = try OfficeModel.make()
    let schema = try ModelSchema(model, catalog: SchemaCatalog(numbering: model))
    let employee = try #require(schema.entity(named: "Employee"))
    let stored = StoredLayout(employee)
    let age = try #require(employee.attributes.first { $0.name == "age" })
    #expect(stored.defaults.count == stored.layout.fields.count)
    #expect(stored.defaults[age.fieldIndex] == 18)
    #expect(stored.defaults.filter { !$0.isNull }.count == 1)
  }
}
