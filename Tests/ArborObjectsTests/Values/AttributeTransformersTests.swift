import ArborModel
import ArborObjects
import Foundation
import Testing

private struct Address: Codable, Equatable {
  var street: String
  var number: Int
}

/// A picture of a few gray pixels, stored with its width in front.
private struct Picture: Equatable {
  var width: UInt8
  var pixels: [UInt8]
}

private struct Malformed: Error {}

private struct PictureTransformer: AttributeTransformer {
  func data(from picture: Picture) throws -> Data {
    guard picture.width > 0 else { throw Malformed() }
    return Data([picture.width] + picture.pixels)
  }
  func value(from data: Data) throws -> Picture {
    guard let width = data.first, width > 0, (data.count - 1) % Int(width) == 0 else {
      throw Malformed()
    }
    return Picture(width: width, pixels: Array(data.dropFirst()))
  }
}

private final class Visitor: ManagedObject {
  override class var entityDescription: EntityDescription { description }
  private static let description = EntityDescription(
    name: "Visitor", className: "Visitor",
    attributes: [
      .init(name: "address", type: .transformable("tests.Address"), isOptional: true),
      .init(
        name: "portrait", type: .transformable("tests.Picture"), isOptional: true,
        defaultValue: .binary(Data([1, 7]))),
      .init(name: "secret", type: .transformable("tests.Secret"), isOptional: true),
    ])

  var address: Address? {
    get { _transformed(0) }
    set { _setTransformed(0, newValue) }
  }
  var portrait: Picture? {
    get { _transformed(1) }
    set { _setTransformed(1, newValue) }
  }
  var secret: String? {
    get { _transformed(2) }
    set { _setTransformed(2, newValue) }
  }
}

@Suite struct AttributeTransformersTests {
  init() {
    AttributeTransformers.register(CodableTransformer<Address>(), named: "tests.Address")
    AttributeTransformers.register(PictureTransformer(), named: "tests.Picture")
  }

  private func use(_ body: (PersistentStore) throws -> Void) throws {
    let model = try ManagedObjectModel(for: [Visitor.self])
    try ObjectStore.use(model, classes: [Visitor.self], body)
  }

  @Test("Transformed values survive a commit")
  func valuesComeBackFromTheStore() throws {
    try use { store in
      let context = store.makeContext()
      let visitor = context.insert(Visitor.self)
      #expect(visitor.address == nil)
      #expect(visitor.portrait == Picture(width: 1, pixels: [7]))
      visitor.address = Address(street: "Main/East", number: 5)
      visitor.portrait = Picture(width: 2, pixels: [1, 2, 3, 4])
      #expect(visitor["address"] == .binary(Data(#"{"number":5,"street":"Main/East"}"#.utf8)))
      try context.commit()

      let other = store.makeContext()
      let same = try #require(try other.objects(Visitor.self).first())
      #expect(same.address == Address(street: "Main/East", number: 5))
      #expect(
        try same.transformedValue(forKey: "portrait") as Picture?
          == Picture(width: 2, pixels: [1, 2, 3, 4]))
      #expect(try same.transformedValue(forKey: "address", as: Any.self) is Address)
      same.address = Address(street: "Main/East", number: 5)
      #expect(same.changedValues().isEmpty)
      try same.setTransformedValue(Address(street: "West", number: 1), forKey: "address")
      #expect(same.address?.street == "West")
      try same.setTransformedValue(nil, forKey: "address")
      same.portrait = nil
      #expect(same.address == nil && same.portrait == nil)
      try other.commit()
    }
  }

  @Test("Reading an invalid transformed value returns the default and fails the commit")
  func readingNeverThrowsAndNoCommitRestsOnIt() throws {
    try use { store in
      let context = store.makeContext()
      let visitor = context.insert(Visitor.self)
      visitor["portrait"] = .binary(Data([2, 1]))
      try context.commit()
      #expect(visitor.portrait == Picture(width: 1, pixels: [7]))
      let error = try failure { try context.commit() }
      #expect(error.code == .typeMismatch && error.keyPath == "portrait")
      #expect(error.underlying is Malformed)
      visitor.address = Address(street: "", number: 1)
      #expect(try failure { try context.commit() }.keyPath == "portrait")
      context.rollback()
      try context.commit()

      let thrown = try failure {
        _ = try visitor.transformedValue(forKey: "portrait", as: Any.self)
      }
      #expect(thrown.code == .typeMismatch)
      try context.commit()
    }
  }

  @Test("Unknown transformers and mismatched types are reported")
  func anUnknownNameAndOtherTypesAreNamed() throws {
    try use { store in
      let context = store.makeContext()
      let visitor = context.insert(Visitor.self)
      visitor["secret"] = .binary(Data([1]))
      try context.commit()
      #expect(visitor.secret == nil)
      let unknown = try failure { try context.commit() }
      #expect(unknown.code == .unknownName && unknown.message.contains("tests.Secret"))
      context.rollback()
      visitor.secret = "x"
      #expect(try failure { try context.commit() }.code == .unknownName)
      context.rollback()
      #expect(visitor["secret"] == .binary(Data([1])))

      let key = "address"
      let number = try failure { try visitor.setTransformedValue(5, forKey: key) }
      #expect(number.code == .typeMismatch && number.entity == "Visitor")
      let picture = Picture(width: 0, pixels: [])
      let refused = try failure { try visitor.setTransformedValue(picture, forKey: "portrait") }
      #expect(refused.code == .invalidArgument)
      try visitor.setTransformedValue(Address(street: "", number: 1), forKey: key)
      let other = try failure { _ = try visitor.transformedValue(forKey: key, as: Picture.self) }
      #expect(other.code == .typeMismatch)
      let misspelt = try failure {
        _ = try visitor.transformedValue(forKey: "adress", as: Any.self)
      }
      #expect(misspelt.code == .unknownName)
      #expect(AttributeTransformers.transformer(named: "tests.Picture") is PictureTransformer)
      #expect(AttributeTransformers.names.contains("tests.Address"))
    }
  }
}
