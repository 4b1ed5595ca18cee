// The word vectors of a model. Add the result of one of these to the configuration of any task; each takes the
// place of the one before:
//
//     snli(data='data') + words.glove('glove.840B.300d.txt') + elmo.at(['input'], bilm='original')
//     snli(data='data') + words.none() + elmo.at(['input'], bilm='original')
local add(indexer, embedder, vocabulary) = {
  dataset_reader+: { token_indexers+: { tokens::: indexer } },
  model+: { contextual_encoder+: { text_field_embedder+: { token_embedders+: { tokens::: embedder } } } },
} + vocabulary;
local vocabulary_of_training_data = {
  datasets_for_vocab_creation::: ['train'],
  vocabulary+: { min_count+: { tokens:: null } },
};
local vocabulary_of_all_data = {
  datasets_for_vocab_creation:: null,
  vocabulary+: { min_count+: { tokens:: null } },
};
local table(vectors, trainable, learn_unknown) = add(
  { type: 'word_vectors' },
  { type: 'word_vectors', vectors: vectors, trainable: trainable, learn_unknown: learn_unknown },
  vocabulary_of_training_data,
);
{
  // The vectors that come with this package: 40,000 English words, 100 numbers each. A word that the training data
  // lack has its vector at prediction; a word that the table lacks has its lower-case form's, else zeros.
  //
  // trainable:     whether they are trained with the task.
  // learn_unknown: whether words that the table lacks share a vector, which is trained.
  bundled(trainable=false, learn_unknown=false):: table('english', trainable, learn_unknown),

  // The same from a text file in the format of GloVe, word2vec or fastText, plain or compressed. An archive stores all
  // of its vectors.
  file(file, trainable=false, learn_unknown=false)::
    assert std.isString(file) : 'words.file: file is a path or a URL, not ' + file;
    table(file, trainable, learn_unknown),

  // Vectors that are learned with the task.
  //
  // dim:       their size.
  // min_count: the times that the texts of the training data must have a word for it to have a vector; all others
  //            share one.
  // lowercase: whether words that differ only in case share a vector.
  learned(dim, min_count=2, lowercase=true)::
    assert std.isNumber(dim) && dim > 0 : 'words.learned: dim is a positive number, not ' + dim;
    assert std.isNumber(min_count) && min_count >= 1 :
           'words.learned: min_count is a number of 1 or more, not ' + min_count;
    add(
      { type: 'single_id', lowercase_tokens: lowercase },
      { type: 'embedding', embedding_dim: dim },
      vocabulary_of_training_data { vocabulary+: { min_count+: { tokens::: min_count } } },
    ),

  // GloVe's vectors, or others in that format: a text file, plain or compressed, with a word and its `dim` numbers on
  // each line. Words of the data that it lacks start with random vectors.
  //
  // trainable: whether they are trained with the task.
  // lowercase: for files of lower-case words, such as glove.6B.*.txt.
  glove(file, dim=300, trainable=false, lowercase=false)::
    assert std.isString(file) : 'words.glove: file is a path or a URL, not ' + file;
    add(
      { type: 'single_id', lowercase_tokens: lowercase },
      { type: 'embedding', embedding_dim: dim, pretrained_file: file, trainable: trainable },
      vocabulary_of_all_data,
    ),

  // No word vectors: the model sees what its characters or ELMo say of a word.
  none():: {
    dataset_reader+: { token_indexers+: { tokens:: null } },
    model+: { contextual_encoder+: { text_field_embedder+: { token_embedders+: { tokens:: null } } } },
  } + vocabulary_of_training_data,
}
