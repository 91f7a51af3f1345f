import Foundation
import Testing

@testable import ArborObjects

@Suite struct BlankDecoderTests {
  struct Everything: Codable, Equatable {
    enum Kind: String, Codable { case first, second }
    struct Part: Codable, Equatable {
      var size: Float
      var flag: Bool
    }

    var text: String
    var number: Int16
    var big: UInt64
    var ratio: Double
    var date: Date
    var id: UUID
    var page: URL
    var bytes: Data
    var price: Decimal
    var kind: Kind
    var part: Part
    var parts: [Part]
    var names: Set<String>
    var notes: [String: Int]
    var note: String?
  }

  @Test("Every part of a blank value is blank")
  func everyPartIsBlank() {
    let part = Everything.Part(size: 0, flag: false)
    let blank = Everything(
      text: "", number: 0, big: 0, ratio: 0, date: Date(timeIntervalSinceReferenceDate: 0),
      id: UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)), page: URL(filePath: "/"),
      bytes: Data(), price: 0, kind: .first, part: part, parts: [], names: [], notes: [:],
      note: nil)
    #expect(BlankDecoder.value(Everything.self) == blank)
  }

  @Test("Lists and scalars have blank values")
  func listsAndScalarsAreBlank() {
    #expect(BlankDecoder.value([Int].self) == [])
    #expect(BlankDecoder.value(String.self) == "")
    #expect(BlankDecoder.value(Int.self) == 0)
  }

  struct Choosy: Decodable {
    init(from decoder: any Decoder) throws {
      guard try decoder.singleValueContainer().decode(Int.self) > 0 else { throw NoSuchValue() }
    }
    struct NoSuchValue: Error {}
  }

  @Test("Types that reject blank values have none")
  func whatTakesNoBlankHasNone() {
    #expect(BlankDecoder.value(Choosy.self) == nil)
    #expect(BlankDecoder.value(ObjectIdentifier.self) == nil)
  }
}
