import ArborModel
import Foundation
import Testing

/// Every kind of field has an entry in the table and stores its values.
@Suite struct FieldKindStoredTests {
  /// The width and a sample value of each kind.
  static let kinds: [(kind: FieldKind, width: Int, value: PropertyValue)] = [
    (.boolean, 1, true), (.int16, 2, -7), (.int32, 4, 70_000), (.int64, 8, .integer(.min)),
    (.float, 4, 0.5), (.double, 8, 0.1), (.date, 8, .date(Date(timeIntervalSince1970: 0.25))),
    (.uuid, 16, .uuid(UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)))),
    (.reference, 8, 5), (.string, 4, "ä\u{0}"), (.binary, 4, .binary(Data([0, 1, 255]))),
    (.decimal, 4, .decimal(Decimal(string: "-12.5") ?? 0)),
    (.uri, 4, URL(string: "https://example.com/a").map(PropertyValue.uri) ?? .null),
    (.tagged, 4, ["a", 1, .null]), (.json, 4, .composite(["a": [1, .null, 0.5]])),
  ]

  @Test("Every kind has an entry in the table")
  func everyKindIsInTheTable() {
    #expect(Self.kinds.map(\.kind) == FieldKind.allCases)
    for (kind, width, _) in Self.kinds {
      let field = kind.stored.field
      let form = kind.stored.form
      #expect(field == kind)
      #expect(form == kind.form)
      #expect(kind.width == width)
    }
  }

  @Test("Fields store values of every kind")
  func fieldsKeepWhatTheyAreGiven() {
    let allocator = SlabAllocator()
    for (kind, _, value) in Self.kinds {
      let layout = RecordLayout(
        entity: 1, number: 1,
        fields: [
          (kind: kind, isTransient: false, catalogNumber: 1, defaultValue: .null),
          (kind: .int64, isTransient: false, catalogNumber: 2, defaultValue: 3),
        ])
      var record = RecordBuffer(copying: layout.template, into: allocator)
      #expect(record.view.value(layout.fields[0]) == .null)
      let isSet = record.set(layout.fields[0], value, allocator: allocator)
      #expect(isSet)
      #expect(record.view.value(layout.fields[0]) == value)
      // Lists fit only untyped attributes and JSON.
      let takesLists = record.set(layout.fields[0], ["x"], allocator: allocator)
      #expect(takesLists == [.tagged, .json].contains(kind))
      let isCleared = record.set(layout.fields[0], .null, allocator: allocator)
      #expect(isCleared)
      #expect(record.view.isNull(layout.fields[0]))
      #expect(record.view.value(layout.fields[1]) == 3)
    }
  }

  @Test("Values of every kind have keys, except for tagged ones")
  func keysComeFromValuesOfTheKind() {
    for (kind, _, value) in Self.kinds {
      let payload = kind.stored.key(of: value)
      #expect((payload == nil) == (kind == .tagged))
      guard case .number(let bits)? = payload else { continue }
      let back = kind.stored.value(ofKey: bits)
      #expect(back == value)
    }
    for (kind, _, _) in Self.kinds {
      let ofAList = kind.stored.key(of: ["x"])
      #expect((ofAList == nil) == (kind != .json))
    }
  }

  @Test("Fields can be read as wider kinds")
  func kindsAreReadAsWiderOnes() {
    #expect(FieldKind.int16.converts(to: .float))
    #expect(!FieldKind.int32.converts(to: .float))
    #expect(FieldKind.boolean.converts(to: .int16))
    #expect(!FieldKind.int16.converts(to: .boolean))
    #expect(FieldKind.uuid.converts(to: .string))
    #expect(FieldKind.allCases.allSatisfy { $0.converts(to: .tagged) })
  }
}
