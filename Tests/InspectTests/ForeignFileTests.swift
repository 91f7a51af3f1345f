import Foundation
import TestSupport
import Testing

/// Files of other programs. Every byte is shown, and no unknown format is decoded.
@Suite("Files of other programs") final class ForeignFileTests {
  let file: ForeignFile
  var inspection: Inspection { Inspection(file.folder, data: file.data) }

  init() throws { file = try ForeignFile() }
  deinit { file.remove() }

  @Test("`info` describes a file of another program")
  func infoSaysWhatItIs() throws {
    let outcome = try inspection.run("info")
    #expect(outcome.status == 0)
    #expect(outcome.output.contains("LMDB environment"))
    let info = try #require(try inspection.json("info") as? [String: Any])
    #expect(info["kind"] as? String == "LMDB environment")
    #expect(info["tables"] as? Int == 3)
    #expect(info["lastTransaction"] as? Int == 1)
    let size = try FileManager.default.attributesOfItem(atPath: file.data.path)[.size] as? Int
    #expect(info["bytes"] as? Int == size)
  }

  @Test("`tables` includes the unnamed table")
  func tablesListsTheUnnamedOneToo() throws {
    let tables = try #require(try inspection.json("tables") as? [[String: Any]])
    #expect(tables.compactMap { $0["name"] as? String } == ["", "numbers", "sets", "words"])
    #expect(tables.compactMap { $0["entries"] as? Int } == [4, 2, 3, 3])
    #expect(tables[1]["flags"] as? [String] == ["integerkey"])
    #expect(
      tables[2]["flags"] as? [String] == ["dupsort", "integerkey", "dupfixed", "integerdup"])
    #expect(try inspection.run("tables").output.contains("(unnamed)"))
  }

  @Test("`dump` shows entries in hexadecimal and as text")
  func dumpShowsHexAndText() throws {
    let outcome = try inspection.run("dump")
    #expect(
      outcome.output == """
        (unnamed)  0x6d6f74746f “motto”  0x66657374696e61206c656e7465 “festina lente”
        numbers  7  0x6e37 “n7”
        numbers  300  0x6e333030 “n300”
        sets  5  10
        sets  5  20
        sets  5  30
        words  0x6170706c65 “apple”  0x417066656c00 “Apfel”
        words  0x6272656164 “bread”  0xff0041
        words  0x8001  0x
        9 entries

        """)
  }

  @Test("`dump` accepts a table and a limit")
  func dumpTakesATableAndALimit() throws {
    let words = try #require(try inspection.json("dump", "words") as? [[String: Any]])
    #expect(words.count == 3)
    let key = try #require(words[0]["key"] as? [String: Any])
    #expect(key["hex"] as? String == "0x6170706c65")
    #expect(key["text"] as? String == "apple")
    let limited = try #require(try inspection.json("dump", "--limit", "4") as? [[String: Any]])
    #expect(limited.count == 4)
    #expect(try inspection.run("dump", "--limit", "0").status == 64)
  }

  @Test("`get` finds keys given as text, hexadecimal or numbers")
  func getFindsTextHexAndNumbers() throws {
    #expect(try inspection.run("get", "words", "apple").output.contains("|Apfel.|"))
    #expect(try inspection.run("get", "words", "0x8001").output == "(empty)\n")
    #expect(try inspection.run("get", "numbers", "300").output.contains("|n300|"))
    #expect(try inspection.run("get", "", "motto").output.contains("|festina lente|"))
    let answer = try #require(try inspection.json("get", "sets", "5") as? [String: Any])
    let values = try #require(answer["values"] as? [[String: Any]])
    #expect(values.compactMap { $0["number"] as? Int } == [10, 20, 30])
  }

  @Test("A missing table suggests a similar one")
  func aMissingTableNamesTheNearest() throws {
    let outcome = try inspection.run("dump", "wrods")
    #expect(outcome.status == 1)
    #expect(outcome.output == "")
    #expect(outcome.errors.contains("Did you mean “words”?"))
  }

  @Test("A missing key exits with code 1")
  func aMissingKeyIsSaid() throws {
    #expect(try inspection.run("get", "words", "cheese").status == 1)
    #expect(try inspection.run("get", "words", "0x1").status == 1)
    #expect(try inspection.run("get", "numbers", "8").status == 1)
  }

  @Test(
    "Commands that need a model report that the file is not a store", arguments: ["show", "schema"])
  func verbsThatNeedAModelSaySo(verb: String) throws {
    let arguments = verb == "show" ? ["Employee/1"] : []
    let outcome = try Inspection.program.run([verb, file.folder.path] + arguments)
    #expect(outcome.status == 2)
    #expect(outcome.errors.contains("not an ArborData store"))
  }

  @Test("`check` reads every entry")
  func checkReadsEveryEntry() throws {
    let outcome = try inspection.run("check")
    #expect(outcome.status == 0)
    #expect(outcome.output.contains("9 entries"))
    let answer = try #require(try inspection.json("check") as? [String: Any])
    #expect(answer["problems"] as? [String] == [])
  }

  @Test("The path of the data file is accepted in place of its folder")
  func theDataFileItselfMayBeNamed() throws {
    let byFile = try Inspection(file.data).run("dump")
    #expect(byFile.output == (try inspection.run("dump").output))
    // The existing lock file was used, and no other was created.
    let names = try FileManager.default.contentsOfDirectory(atPath: file.folder.path)
    #expect(names.sorted() == ["data.mdb", "lock.mdb"])
  }

  @Test("A file without a lock file is read without creating one")
  func aFileWithoutALockIsReadAsIs() throws {
    let copy = file.folder.appending(path: "copy.lmdb")
    try FileManager.default.copyItem(at: file.data, to: copy)
    let outcome = try Inspection.program.run(["tables", copy.path, "--immutable"])
    #expect(outcome.status == 0)
    #expect(!FileManager.default.fileExists(atPath: copy.path + "-lock"))
  }
}
