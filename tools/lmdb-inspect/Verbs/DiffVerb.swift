import ArborModel
import ArgumentParser

/// `diff`: lists the differences between two files.
struct DiffVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "diff", abstract: "Lists what is different in a second store or LMDB file.",
    discussion: """
      Objects are compared by identity: those that were added (+), are gone (-) or have changed \
      properties (~), and what the models do not share (!). Of a relationship the end is compared \
      that the file keeps. Files of other programs are compared by key. Both may be of any size: \
      they are read side by side.

      Exit code 0: no differences; 1: some.
      """)

  @OptionGroup var target: FileArguments

  @Argument(help: "The store or file that it is compared with.", completion: .file())
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
    let list: DifferenceList
    if file.store != nil, second.store != nil {
      list = try StoreDiff.print(file, second, to: &printer)
    } else {
      list = try TableDiff.print(file, second, to: &printer)
    }
    printer.endList(summary: list.summary)
    if !list.isEmpty { throw ExitCode(InspectError.Code.notFound.rawValue) }
  }
}
