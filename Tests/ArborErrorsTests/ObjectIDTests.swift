import ArborErrors
import Foundation
import Testing

@Suite struct ObjectIDTests {
  static let storeID = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))
  static let id = ObjectID(storeID: storeID, entityName: "Employee", number: 42)

  @Test("An object ID survives conversion to text and back")
  func textComesBack() throws {
    #expect(Self.id.description == "arbor://01020304-0506-0708-090a-0b0c0d0e0f10/Employee/42")
    for id in [
      Self.id, ObjectID(storeID: UUID(), entityName: "É x", number: ObjectID.maximumNumber),
    ] {
      #expect(try ObjectID(id.description) == id)
      let data = try JSONEncoder().encode([id])
      #expect(try JSONDecoder().decode([ObjectID].self, from: data) == [id])
    }
  }

  @Test(
    "Invalid texts of object IDs are refused",
    arguments: [
      "", "arbor://", "arbor://x/Employee/1",
      "arbor://01020304-0506-0708-090a-0b0c0d0e0f10/Employee/0",
      "arbor://01020304-0506-0708-090a-0b0c0d0e0f10/Employee/-1",
      "arbor://01020304-0506-0708-090a-0b0c0d0e0f10/Employee/281474976710656",
      "arbor://01020304-0506-0708-090a-0b0c0d0e0f10//1",
      "arbor://01020304-0506-0708-090a-0b0c0d0e0f10/Employee/1/2",
      "http://01020304-0506-0708-090a-0b0c0d0e0f10/Employee/1",
    ])
  func refusesOtherTexts(_ text: String) throws {
    let error = #expect(throws: ArborError.self) { try ObjectID(text) }
    #expect(error?.code == .invalidArgument)
    let data = try JSONEncoder().encode([text])
    #expect(throws: DecodingError.self) { try JSONDecoder().decode([ObjectID].self, from: data) }
  }

  @Test("Object IDs are equal only if all three parts are")
  func identityIsAllThreeParts() {
    let others = [
      ObjectID(storeID: UUID(), entityName: "Employee", number: 42),
      ObjectID(storeID: Self.storeID, entityName: "Company", number: 42),
      ObjectID(storeID: Self.storeID, entityName: "Employee", number: 43),
    ]
    for other in others { #expect(other != Self.id) }
    #expect(Set(others + [Self.id, Self.id]).count == 4)
  }
}
