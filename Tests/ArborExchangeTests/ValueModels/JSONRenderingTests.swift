import ArborJSON
import ArborExchange
import ArborLocale
import ArborModel
import Foundation
import Testing

@Suite struct JSONRenderingTests {
  private let banner = Banner(
    bannerID: 1, picURL: URL(string: "https://a.b/c"), children: [Item(title: "x", price: 2)])

  @Test("Nested objects are created for key paths")
  func keyPathsMakeTheObjectsOnTheWay() throws {
    let json = try ValueAdapter.encode(banner)
    #expect(
      json == [
        "id": 1, "images": ["small": "https://a.b/c"], "children": [["title": "x", "price": 2]],
      ])
    #expect(try ValueAdapter.decode(Banner.self, from: .value(json)) == banner)
  }

  @Test("Nil is omitted unless nulls are requested")
  func nilIsLeftOutUnlessItIsWanted() throws {
    let item = Item(title: "x")
    #expect(try ValueAdapter.encode(item) == ["title": "x"])
    let options = JSONRenderingOptions(writesNulls: true)
    #expect(try ValueAdapter.encode(item, options: options) == ["title": "x", "price": nil])
  }

  private struct Meeting: ValueModel {
    var start: Date?
    var end: Date?
    var room: String?
    var tag: String?
    var count: Int?
    var flag = true
    static let jsonKeyPaths: JSONKeyPaths = ["end": "times.end"]
    static let jsonTransformers: [String: JSONTransformer] = [
      "start": .date(format: "yyyy-MM-dd"), "end": .date(format: "yyyy-MM-dd"),
      "room": JSONTransformer { (json: JSONValue) -> String? in
        json.string
      } write: { (room: String?) in
        room.map(JSONValue.string) ?? "none"
      },
      "tag": JSONTransformer { (json: JSONValue) -> String? in
        json.string
      } write: { (tag: String?) in
        tag.map(JSONValue.string) ?? .null
      },
      "count": JSONTransformer { (json: JSONValue) -> Int in
        Int(json.string ?? "") ?? 0
      } write: { (count: Int) in
        .string("\(count)")
      },
      "flag": JSONTransformer { (json: JSONValue) -> Bool in
        !json.isNull
      } write: { (flag: Bool) in
        flag ? 1 : .null
      },
    ]
  }

  @Test("A nil of a transformed property is omitted unless nulls are requested")
  func nilOfTransformedProperties() throws {
    #expect(try ValueAdapter.encode(Meeting()) == ["room": "none", "flag": 1])
    // The result of a transformer for a value is kept, even if it is null.
    #expect(try ValueAdapter.encode(Meeting(flag: false)) == ["room": "none", "flag": nil])
    let options = JSONRenderingOptions(writesNulls: true)
    #expect(
      try ValueAdapter.encode(Meeting(), options: options) == [
        "start": nil, "times": ["end": nil], "room": "none", "tag": nil, "count": nil, "flag": 1,
      ])
  }

  @Test("The options can restrict the keys")
  func keysAreFiltered() throws {
    let options = JSONRenderingOptions(keys: ["bannerID", "children", "title"])
    #expect(
      try ValueAdapter.encode(banner, options: options) == ["id": 1, "children": [["title": "x"]]])
  }

  private struct Account: ValueModel {
    var name: String
    var secret: String
    func serializableKeys(_ keys: Set<String>) -> Set<String> { keys.subtracting(["secret"]) }
  }

  @Test("A model can exclude keys")
  func modelsFilterTheirKeys() throws {
    let accounts = [Account(name: "a", secret: "b"), Account(name: "c", secret: "d")]
    #expect(try ValueAdapter.encode(accounts) == [["name": "a"], ["name": "c"]])
    let options = JSONRenderingOptions(keys: ["secret"])
    #expect(try ValueAdapter.encode(accounts, options: options) == [[:], [:]])
  }

  final class Node: ValueModel {
    var name: String
    var parent: Node?
    var children: [Node] = []
    init(_ name: String) { self.name = name }
    static var backReferences: [AnyKeyPath] { [\Node.parent] }
  }

  @Test("Back references are not written")
  func whatLeadsBackIsLeftOut() throws {
    let root = Node("root")
    let child = Node("child")
    root.children = [child]
    child.parent = root
    #expect(
      try ValueAdapter.encode(root)
        == ["name": "root", "children": [["name": "child", "children": []]]])
    #expect(
      try ValueAdapter.encode(child)
        == ["name": "child", "parent": ["name": "root"], "children": []])
  }

  @Test("Models nested too deeply are rejected")
  func tooDeepModelsAreAnError() throws {
    let root = Node("root")
    var last = root
    for _ in 0..<200 {
      last.children = [Node("n")]
      last = last.children[0]
    }
    let error = try #require(throws: ArborError.self) { try ValueAdapter.encode(root) }
    #expect(error.code == .limitExceeded)
  }

  @Test("Values without a JSON form are rejected")
  func numbersThatJSONHasNotAreErrors() throws {
    for sample in [
      Sample(double: .infinity), Sample(single: .nan),
      Sample(date: Date(timeIntervalSince1970: 1e15)),
    ] {
      let error = try #require(throws: ArborError.self) { try ValueAdapter.encode(sample) }
      #expect(error.code == .unsupportedProperty && error.keyPath?.hasPrefix("Sample.") == true)
    }
  }

  private struct Clash: ValueModel {
    var a = 1
    var b = 2
    static let jsonKeyPaths: JSONKeyPaths = ["a": "x.y", "b": "x"]
  }

  @Test("Two properties with the same path are rejected")
  func twoPropertiesOfOnePathAreAnError() throws {
    let error = try #require(throws: ArborError.self) { try ValueAdapter.encode(Clash()) }
    #expect(error.code == .invalidMapping && error.keyPath == "Clash.b")
  }
}
