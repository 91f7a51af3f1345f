import Foundation
import Testing
import ArborModel
import ModelSamples

@Suite struct BlobReferenceTests {
  private let allocator = SlabAllocator()
  private let layout = RecordLayout(
    entity: 1, number: 1,
    fields: [(.binary, false, 1, .null), (.string, false, 2, "x"), (.binary, false, 3, .null)],
    external: [1])

  @Test("A stored reference can be read back and sets the record's flag")
  func aReferenceComesBack() {
    let reference = BlobReference(version: 3, checksum: 0xDEAD_BEEF, length: 1 << 33)
    var record = RecordBuffer(copying: layout.template, into: allocator)
    #expect(record.view.flags == 0)
    record.store(layout.fields[0], reference, allocator: allocator)
    #expect(record.view.blob(layout.fields[0]) == reference)
    #expect(record.view.flags == RecordLayout.blobFlag)
    #expect(record.view.value(layout.fields[0]) == .null)
    #expect(reference.bytes.count == BlobReference.size)
    record.setNull(layout.fields[0])
    #expect(record.view.blob(layout.fields[0]) == nil)
  }

  @Test("Every value can be stored and read back, including bytes that look like references")
  func valuesAreNeverTakenForReferences() {
    let reference = BlobReference(version: 1, checksum: 2, length: 3).bytes
    let samples: [[UInt8]] = [
      [], [1, 2, 3], reference, Array(reference.prefix(8)), Array(reference.prefix(12)),
      Array(reference.prefix(27)), reference + [0], Array("ArborBlb".utf8) + [0, 0, 0, 0],
      Array("ArborBlb".utf8) + [0, 0, 0, 0] + reference,
    ]
    for sample in samples {
      for hasFlag in [false, true] {
        for field in [layout.fields[0], layout.fields[2]] {
          var record = RecordBuffer(copying: layout.template, into: allocator)
          if hasFlag { record.setFlags(RecordLayout.blobFlag) }
          let value = PropertyValue.binary(Data(sample))
          let isStored = record.set(field, value, allocator: allocator)
          #expect(isStored)
          #expect(record.view.blob(field) == nil)
          #expect(record.view.value(field) == value)
          var copy = RecordBuffer(copying: layout.template, into: allocator)
          copy.copy(field, from: record.view, allocator: allocator)
          #expect(copy.view.value(field) == value)
        }
      }
    }
  }

  @Test("Records without the flag predate references")
  func withoutTheFlagBytesAreTheValue() {
    let bytes = BlobReference(version: 1, checksum: 2, length: 3).bytes
    var record = RecordBuffer(copying: layout.template, into: allocator)
    bytes.withUnsafeBytes { record.store(layout.fields[0], bytes: $0, allocator: allocator) }
    #expect(record.view.blob(layout.fields[0]) == nil)
    #expect(record.view.value(layout.fields[0]) == .binary(Data(bytes)))
  }

  @Test("External storage applies only to stored binary and transformable attributes")
  func theModelSaysWhatMayLieOutside() throws {
    let model = try ManagedObjectModel {
      EntityDescription("Photo") {
        AttributeDescription("image", .binary, .externalStorage, .optional)
        AttributeDescription("thumb", .transformable("X"), .externalStorage, .optional, .indexed)
        AttributeDescription("name", .string, .externalStorage)
        AttributeDescription("cache", .binary, .externalStorage, .transient)
        AttributeDescription("small", .binary, .optional)
      }
    }
    let schema = try SchemaFixture.schema(of: model)
    let photo = try schema.required("Photo")
    #expect(photo.attributes.filter(\.field.isExternal).map(\.name) == ["image", "thumb"])
    #expect(photo.layout.externalFields.count == 2)
    #expect(photo.indexes.isEmpty)
    let field = photo.attributes[0].field
    let fields = photo.layout.fields.map {
      ($0.kind, $0.isTransient, $0.catalogNumber, PropertyValue.null)
    }
    let plain = RecordLayout(entity: photo.number, number: 1, fields: fields).fields[0]
    #expect(field != plain && field.isStored(as: plain))
  }
}
