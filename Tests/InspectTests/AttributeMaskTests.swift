import ArborData
import Foundation
import TestSupport
import Testing

@testable import lmdb_inspect

@Suite struct AttributeMaskTests {
  @Test("SHA-256 yields the hashes of the standard's test vectors")
  func hashesAsTheStandardSays() {
    for (message, hash) in [
      ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
      ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
      (
        "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
      ),
      (
        String(repeating: "a", count: 1_000),
        "41edece42d63e8d9bf515a9ba6932e1c20cbc9f5a5d134645adb5db1b9737ea3"
      ),
    ] {
      let found = SHA256.hash(Array(message.utf8)).map { byte in
        (byte < 16 ? "0" : "") + String(byte, radix: 16)
      }
      #expect(found.joined() == hash)
    }
  }

  @Test("Masked values are valid for their attributes")
  func valuesFitTheirAttributes() throws {
    var random = SeededRandom()
    let attributes = [
      AttributeDescription(name: "a", type: .integer16),
      AttributeDescription(name: "a", type: .integer32, minimum: 5, maximum: 9),
      AttributeDescription(name: "a", type: .integer64, minimum: -7),
      AttributeDescription(name: "a", type: .integer16, maximum: -3),
      AttributeDescription(name: "a", type: .boolean),
      AttributeDescription(name: "a", type: .float),
      AttributeDescription(name: "a", type: .double, minimum: 0.5, maximum: 0.75),
      AttributeDescription(name: "a", type: .decimal),
      AttributeDescription(name: "a", type: .decimal, minimum: 2, maximum: 4),
      AttributeDescription(name: "a", type: .string),
      AttributeDescription(name: "a", type: .string, minimum: 40, maximum: 50),
      AttributeDescription(name: "a", type: .string, maximum: 3),
      AttributeDescription(name: "a", type: .date), AttributeDescription(name: "a", type: .binary),
      AttributeDescription(name: "a", type: .uuid), AttributeDescription(name: "a", type: .uri),
    ]
    for attribute in attributes {
      var bounded = attribute
      bounded.isOptional = true
      let model = ManagedObjectModel(entities: [
        EntityDescription(name: "Thing", attributes: [bounded])
      ])
      let context = try PersistentStore(model: model, at: .inMemory).makeContext()
      let mask = AttributeMask(attribute: bounded, key: "secret")
      for _ in 0..<50 {
        // A mask converts a value of any type to a string first.
        let masked = mask.masked(.integer(.random(in: .min ... .max, using: &random)))
        let object = try context.insert("Thing")
        try object.setValue(masked, forKey: "a")
      }
      #expect(mask.masked(.null) == .null)
      try context.commit()
    }
  }

  @Test("Equal values have equal masks, and different values have different ones")
  func equalValuesStayEqualAndOthersDiffer() {
    let mask = AttributeMask(
      attribute: AttributeDescription(name: "a", type: .string), key: "secret")
    let other = AttributeMask(
      attribute: AttributeDescription(name: "b", type: .string), key: "other")
    var seen: Set<PropertyValue> = []
    for number in 0..<5_000 {
      let value = PropertyValue.string("value \(number)")
      #expect(mask.masked(value) == mask.masked(value))
      #expect(mask.masked(value) != other.masked(value))
      seen.insert(mask.masked(value))
    }
    #expect(seen.count == 5_000)
  }
}
