import ArborModel
import ArgumentParser

/// `diff`: lists the differences between two files.
struct DiffVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "diff", abstract: "Lists the differences between two stores or LMDB files.",
    discussion: """
      Objects are compared by identity. The output lists objects that were added (+) or removed \
      (-) or whose properties changed (~), and differences between the models (!). Of a \
      relationship and its inverse, only the stored side is compared. Other LMDB files are \
      compared by key. Files may have any size, because both are read in parallel.

      Exit code 0: there are no differences. Exit code 1: there are differences.

      Example: lmdb-inspect diff Staff.arbor Former.arbor
      """)

  @OptionGroup var target: FileArguments

  @Argument(help: "The store or file to compare with.", completion: .file())
  var other: String

  func answer(_ file: InspectedFile, _ printer: inout Printer) throws {
    let second: InspectedFile
    do { second = try InspectedFile(path: other, isImmutable: target.immutable) } catch {
      throw InspectError(error, on: other)
    }
    for side in [file, second] {
      if let problem = side.problem { throw InspectError(problem, on: side.path) }
    }
    printer.beginList()
    let list = try ProgressLine.showing("comparing") { progress in
      let list = DifferenceList(progress)
      return file.store != nil && second.store != nil
        ? try StoreDiff.print(file, second, list, to: &printer)
        : try TableDiff.print(file, second, list, to: &printer)
    }
    printer.endList(summary: list.summary)
    if !list.isEmpty { throw ExitCode(InspectError.Code.notFound.rawValue) }
  }
}
