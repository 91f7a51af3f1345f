import ArborData
import ArborMacros
import Foundation

@Entity final class Author: ManagedObject {
  @Attribute(.unique) var name: String = ""
  @Relationship(inverse: "author", deleteRule: .cascade) var books: Set<Book>
}

@Entity final class Book: ManagedObject {
  var title: String = ""
  @Attribute(.indexed) var year: Int = 0
  @Relationship(inverse: "books") var author: Author?
}

let folder = URL.currentDirectory()
let file = folder.appending(path: "ReadingList.arbor")
let store = try PersistentStore(for: [Author.self, Book.self], at: .file(file))
let context = store.makeContext()

let list = [
  ("Ursula K. Le Guin", "The Left Hand of Darkness", 1969),
  ("Ursula K. Le Guin", "The Dispossessed", 1974),
  ("Stanisław Lem", "The Futurological Congress", 1971),
]
if try context.objects(Book.self).isEmpty() {
  for (name, title, year) in list {
    let book = context.insert(Book.self)
    book.title = title
    book.year = year
    book.author = try context.insertOrFetch(Author.self, where: ["name": name])
  }
  try context.commit()
}
