internal import Foundation

/// Writes a message about a programming error to the standard error stream, then stops the program.
///
/// `preconditionFailure` alone prints nothing in a release build.
package func stopProgram(
  _ message: String, file: StaticString = #fileID, line: UInt = #line
) -> Never {
  FileHandle.standardError.write(Data("\(file):\(line): \(message)\n".utf8))
  preconditionFailure(file: file, line: line)
}
