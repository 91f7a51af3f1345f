import ArborJSON
import ArborExchange
import ArborModel
import Foundation
import Testing

@Suite struct SeedFolderTests {
  /// A folder `seeds` from which documents are seeded, and a file outside of it that must not be
  /// readable.
  private let workshop: SeedWorkshop
  private let outside: URL

  init() throws {
    workshop = try SeedWorkshop()
    outside = try workshop.write(#"{"Company": {"companyName": "outside"}}"#, to: "outside.json")
  }

  private func link(_ name: String, at path: String = "seeds/Main.json") throws -> URL {
    let text = JSONValue.object(["seedlings": [["seedFile": .string(name)]]]).text()
    return try workshop.write(text, to: path)
  }

  private func refusal(of name: String, options: SeedOptions = SeedOptions()) throws -> ArborError {
    try workshop.failure(ofSeedFrom: [try link(name)], options: options)
  }

  @Test("Links can't leave the folder")
  func refusesToClimb() throws {
    try workshop.write(#"{"Company": {}}"#, to: "seeds/in.json")
    for name in ["../outside.json", "sub/../../outside.json", "..", "./../outside.json"] {
      #expect(try refusal(of: name).code == .notAllowed, "\(name)")
    }
    #expect(try refusal(of: "sub/../in.json").message.contains("must not refer"))
  }

  @Test("Absolute paths are rejected")
  func refusesAbsolutePaths() throws {
    for name in [outside.path, "/etc/hostname", "//etc/hostname"] {
      #expect(try refusal(of: name).code == .notAllowed, "\(name)")
    }
  }

  @Test("Names with a NUL character are rejected")
  func refusesNamesWithNUL() throws {
    #expect(try refusal(of: "in.json\u{0}").code == .invalidPath)
  }

  @Test("Symbolic links out of the folder are rejected")
  func refusesSymbolicLinksThatLeadOut() throws {
    let seeds = workshop.folder.appending(path: "seeds")
    _ = try link("x")
    let manager = FileManager.default
    try manager.createSymbolicLink(
      at: seeds.appending(path: "link.json"), withDestinationURL: outside)
    try manager.createSymbolicLink(
      at: seeds.appending(path: "up"), withDestinationURL: workshop.folder)
    try manager.createSymbolicLink(
      at: seeds.appending(path: "chain.json"),
      withDestinationURL: seeds.appending(path: "link.json"))
    for name in ["link.json", "up/outside.json", "chain.json"] {
      #expect(try refusal(of: name).code == .notAllowed, "\(name)")
    }
  }

  @Test("A folder whose name begins with that of the allowed one is not accessible")
  func refusesANeighbourWhoseNameBeginsAlike() throws {
    try workshop.write(#"{"Company": {}}"#, to: "seeds2/in.json")
    _ = try link("x")
    try FileManager.default.createSymbolicLink(
      at: workshop.folder.appending(path: "seeds/s"),
      withDestinationURL: workshop.folder.appending(path: "seeds2"))
    #expect(try refusal(of: "s/in.json").code == .notAllowed)
  }

  @Test("Symbolic links within the folder are followed")
  func followsSymbolicLinksThatStay() throws {
    try workshop.write(#"{"Company": {}}"#, to: "seeds/real/in.json")
    let top = try link("alias/in.json")
    try FileManager.default.createSymbolicLink(
      at: workshop.folder.appending(path: "seeds/alias"),
      withDestinationURL: workshop.folder.appending(path: "seeds/real"))
    #expect(try workshop.context.seed(from: .file(top)).created == ["Company": 1])
  }

  @Test("The main document may be reached through a symbolic link")
  func theTopDocumentMayLieBehindALink() throws {
    try workshop.write(#"{"Company": {}}"#, to: "seeds/in.json")
    _ = try link("in.json")
    let alias = workshop.folder.appending(path: "alias")
    try FileManager.default.createSymbolicLink(
      at: alias, withDestinationURL: workshop.folder.appending(path: "seeds"))
    let report = try workshop.context.seed(from: .file(alias.appending(path: "Main.json")))
    #expect(report.created == ["Company": 1])
  }

  @Test("A root option extends the folder")
  func aRootWidensTheFolder() throws {
    var options = SeedOptions()
    options.root = workshop.folder
    let top = try link("../outside.json")
    #expect(try workshop.context.seed(from: .file(top), options: options).created == ["Company": 1])
    #expect(try refusal(of: "../../outside.json", options: options).code == .notAllowed)
    #expect(try refusal(of: outside.path, options: options).code == .notAllowed)
  }

  @Test("The root must contain the main document")
  func aRootMustContainTheTopDocument() throws {
    var options = SeedOptions()
    try workshop.write("", to: "elsewhere/x")
    options.root = workshop.folder.appending(path: "elsewhere")
    #expect(try refusal(of: "in.json", options: options).code == .invalidArgument)
    options.root = workshop.folder.appending(path: "nowhere")
    #expect(try refusal(of: "in.json", options: options).code == .fileUnreadable)
  }
}
