import Foundation
import Testing

@testable import ArborObjects

private enum Kind: String, Codable { case small, large }
private enum Grade: Int, Codable, CaseIterable { case low = 3, high = 7 }

private struct Extent: Codable, Equatable {
  var height = 0
  var width: Double?
}

private struct Label: Codable {
  var text = ""
  var swapped = ""
  var other = 0
  var kind = Kind.small
  var grade = Grade.low
  var size = Extent()
  var spare: Extent?
  var made = Date.distantPast

  var twice: Int { other * 2 }
  var area: Double { Double(size.height) * (size.width ?? 0) }
  var both: String { text + swapped }

  enum CodingKeys: String, CodingKey {
    case kind, grade, size, spare, made
    case text = "swapped"
    case swapped = "text"
    case other = "renamed"
  }
}

@Suite struct CodableProbeTests {
  @Test("Keys are found by the values that are read")
  func keysAreFoundByWhatIsRead() {
    #expect(CodableProbe.keys(\Label.made) == ["made"])
    #expect(CodableProbe.keys(\Label.grade) == ["grade"])
    #expect(CodableProbe.keys(\Label.size) == ["size"])
    #expect(CodableProbe.keys(\Label.size.height) == ["size", "height"])
    #expect(CodableProbe.keys(\Label.size.width) == ["size", "width"])
    #expect(CodableProbe.keys(\Label.spare?.height) == ["spare", "height"])
  }

  @Test("Keys may differ from property names")
  func keysMayHaveOtherNamesThanProperties() {
    #expect(CodableProbe.keys(\Label.other) == ["renamed"])
    #expect(CodableProbe.keys(\Label.text) == ["swapped"])
    #expect(CodableProbe.keys(\Label.swapped) == ["text"])
  }

  @Test("An enumeration that doesn't list its cases is not found")
  func whatCannotDifferIsNotFound() { #expect(CodableProbe.keys(\Label.kind) == nil) }

  @Test("Computed properties have no keys")
  func whatIsComputedIsNoPart() {
    #expect(CodableProbe.keys(\Label.area) == nil)
    #expect(CodableProbe.keys(\Label.both) == nil)
    #expect(CodableProbe.keys(\Label.text.count) == nil)
    #expect(CodableProbe.keys(\Kind.rawValue) == nil)
    #expect(CodableProbe.keys(\String.count) == nil)
  }
}
