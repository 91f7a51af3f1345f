import Foundation

/// The data of a notes application. The same number of notes always generates the same data.
struct NotesData {
  struct NoteRow {
    let title: String
    /// Numbers, from 1.
    let folder: Int
    let tags: Set<Int>
  }

  /// The number of the folder that contains two thirds of all notes.
  static let largeFolder = 1

  let folderNames: [String]
  let tagNames: [String]
  let notes: [NoteRow]

  /// Generates `count` notes with up to three tags each, in 200 folders of very different size.
  init(count: Int) {
    var random = SplitMix(seed: 23)
    let folderCount = 200
    folderNames = (1...folderCount).map { random.letters(6) + " \($0)" }
    tagNames = (1...50).map { random.letters(6) + " \($0)" }
    notes = (1...count).map { number in
      let isInLarge = random.below(3) > 0
      let other = 2 + Int(pow(random.unit(), 3) * Double(folderCount - 1))
      let tags = (0..<random.below(4)).map { _ in 1 + random.below(50) }
      return NoteRow(
        title: random.letters(8) + " \(number)", folder: isInLarge ? Self.largeFolder : other,
        tags: Set(tags))
    }
  }
}

/// A list that a view shows.
enum NotesList {
  case byTitle
  case byFolder
  /// By folder, in a section for each.
  case inSections
}

/// A change of one object, which may move it or others in a list.
enum NotesChange {
  case title(note: Int, String)
  case folderName(Int, String)
}

/// One implementation of the application, with its own file.
protocol NotesRival: AnyObject {
  func load(_ data: NotesData) throws
  /// Shows a list, or none.
  func show(_ list: NotesList?) throws
  /// Performs and commits a change.
  func apply(_ change: NotesChange) throws
  /// Returns what a view of the list reads after a change: the number of notes, the first forty with
  /// the names of their folders, and the number of notes in each section.
  func read() throws -> Answer
  /// Adds the first `count` notes to a new tag one by one, without a commit. Returns the number of
  /// its notes.
  func tagNotes(_ count: Int) throws -> Answer
}
