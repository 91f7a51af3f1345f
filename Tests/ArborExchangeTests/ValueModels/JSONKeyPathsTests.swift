import ArborJSON
import ArborExchange
import ArborModel
import Foundation
import Testing

@Suite struct JSONKeyPathsTests {
  private struct Place: Codable, Equatable { var latitude: Double, longitude: Double }

  private struct Stop: ValueModel, Equatable {
    var name: String?
    var place: Place?
    var size: String?
    var code: Int?
    var dotted: Int?
    static let jsonKeyPaths: JSONKeyPaths = [
      "name": "info.names.long", "place": ["geo.latitude", "geo.longitude"], "size": nil,
      "code": ["code", "old.code"], "dotted": .key("a.b"),
    ]
  }

  private func stop(_ text: String) throws -> Stop {
    try ValueAdapter.decode(Stop.self, from: .data(Data(text.utf8)))
  }

  @Test("Dots in a key path descend into objects")
  func dotsDescendIntoObjects() throws {
    #expect(try stop(#"{"info": {"names": {"long": "x"}}}"#).name == "x")
    for text in [#"{"info": {"names": {}}}"#, #"{"info": {}}"#, "{}", #"{"info": null}"#] {
      #expect(try stop(text).name == nil)
    }
  }

  @Test("A value on the path that is not an object is rejected")
  func whatIsNoObjectOnTheWayIsAnError() throws {
    for text in [#"{"info": {"names": []}}"#, #"{"info": {"names": 1}}"#] {
      let error = try #require(throws: ArborError.self) { try stop(text) }
      #expect(error.location?.path == "$.info.names" && error.code == .invalidPath)
    }
  }

  @Test("A property can be read from several paths")
  func severalPathsAreOneProperty() throws {
    let json = #"{"geo": {"latitude": 1.5, "longitude": 2}}"#
    let stop = try stop(json)
    #expect(stop.place == Place(latitude: 1.5, longitude: 2))
    #expect(try ValueAdapter.encode(stop) == (try JSONValue.parse(json)))
    #expect(try self.stop("{}").place == nil)
  }

  @Test("A scalar with several paths is read from the first that is present")
  func aScalarOfSeveralPathsIsTheFirstThatIsPresent() throws {
    #expect(try stop(#"{"old": {"code": 2}}"#).code == 2)
    #expect(try stop(#"{"code": 1, "old": {"code": 2}}"#).code == 1)
    #expect(try ValueAdapter.encode(Stop(code: 3)) == ["code": 3])
  }

  private struct Page: ValueModel, Equatable {
    var log: Int?
    var unit: String?
    var first: String?
    var third: String?
    var inner: Int?
    static let jsonKeyPaths: JSONKeyPaths = [
      "log": "API.Log", "unit": #"Height\.cm"#, "first": "tags.0", "third": "tags.2",
      "inner": "rows.1.cells.0",
    ]
  }

  private func page(_ text: String) throws -> Page {
    try ValueAdapter.decode(Page.self, from: .data(Data(text.utf8)))
  }

  @Test("A key with the dots of a path takes precedence, and a backslash escapes a dot")
  func keysThatArePathsToo() throws {
    #expect(try page(#"{"API.Log": 1, "API": {"Log": 2}}"#).log == 1)
    #expect(try page(#"{"API": {"Log": 2}}"#).log == 2)
    #expect(try page(#"{"API.Log": null, "API": {"Log": 2}}"#).log == nil)
    #expect(try page(#"{"Height.cm": "x", "Height": {"cm": "y"}}"#).unit == "x")
    #expect(try page(#"{"Height": {"cm": "y"}}"#).unit == nil)
  }

  @Test("Indexes in a path refer to elements of lists, for reading and writing")
  func elementsOfLists() throws {
    let json = #"{"tags": ["a", "b", "c"], "rows": [{"cells": []}, {"cells": [5, 6]}]}"#
    let page = try page(json)
    #expect(page == Page(first: "a", third: "c", inner: 5))
    #expect(
      try ValueAdapter.encode(page)
        == ["tags": ["a", nil, "c"], "rows": [nil, ["cells": [5]]]])
    #expect(try ValueAdapter.decode(Page.self, from: .value(ValueAdapter.encode(page))) == page)
    #expect(try self.page(#"{"tags": [], "rows": [1]}"#) == Page())
    #expect(throws: ArborError.self) { try self.page(#"{"tags": "x"}"#) }
  }

  @Test("A key may contain dots")
  func aNameMayHoldDots() throws {
    #expect(try stop(#"{"a.b": 1, "a": {"b": 2}}"#).dotted == 1)
  }

  @Test("A property without a path is neither read nor written")
  func aPropertyWithoutAPathTakesNoPart() throws {
    #expect(try stop(#"{"size": "x"}"#).size == nil)
    #expect(try ValueAdapter.encode(Stop(size: "x")) == [:])
    #expect(JSONKeyPaths.identity.excluding("a")["a"] == .none)
    #expect(JSONKeyPaths.identity.renaming(["a": "b.c"])["a"] == "b.c")
    #expect(JSONKeyPaths.identity["a"] == "a")
  }

  private struct Wrong: ValueModel {
    var name: String
    static let jsonKeyPaths: JSONKeyPaths = ["nmae": "n"]
  }

  @Test("A mapping with unknown coding keys is rejected")
  func namesThatAreNoCodingKeysAreErrors() throws {
    let error = try #require(throws: ArborError.self) {
      try ValueAdapter.decode(Wrong.self, from: ["name": "a"])
    }
    #expect(error.code == .invalidMapping && error.message.contains("nmae"))
  }
}
